import type { Attempt } from '../../client/client.ts'
import { redactBody, redactHeaders, secretMembersOf } from '../session/secrets.ts'
import { harmless } from './style.ts'

/** What `--debug` says of a try, and `--trace` with its headers and bodies, secrets left out. */
export function attemptLines(attempt: Attempt, isTrace: boolean): readonly string[] {
  return [callLine(attempt), ...(isTrace ? traceLines(attempt) : [])]
}

function callLine({ request, answer, failure, durationMs }: Attempt): string {
  const outcome = answer
    ? String(answer.status)
    : `failed: ${failure instanceof Error ? failure.message : String(failure)}`
  const correlation = request.headers['x-correlation-id'] ?? ''
  return `${request.method} ${request.path} ${outcome} ${durationMs.toFixed(1)} ms correlation_id=${correlation}`
}

function traceLines({ operation, request, answer }: Attempt): readonly string[] {
  return [
    ...headerLines('>', redactHeaders(request.headers)),
    ...bodyLines('>', request.body, secretMembersOf(operation)),
    ...(answer ? [...headerLines('<', redactHeaders(answer.headers)), ...bodyLines('<', answer.body, [])] : []),
  ]
}

function headerLines(sign: string, headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).map(([name, value]) => `${sign} ${name}: ${harmless(value)}`)
}

function bodyLines(
  sign: string,
  body: string | Uint8Array | undefined,
  secretMembers: readonly string[],
): readonly string[] {
  if (body === undefined || body.length === 0) return []
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8')
  const isText = !text.includes('\ufffd')
  return [`${sign} ${isText ? harmless(redactBody(text.trimEnd(), secretMembers)) : `(${body.length} bytes)`}`]
}
