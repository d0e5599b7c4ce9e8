import type { Attempt } from '../client/client.ts'
import type { SharedValues } from './flags.ts'
import { redactBody, redactHeaders } from './secrets.ts'
import { harmless } from './style.ts'

/** Where lines about calls go. */
export interface CallReport {
  debug(line: string): void
  warn(line: string): void
}

/** Watches calls for `--debug`, `--trace` and what the server announces in headers. */
export function createObserver(shared: SharedValues, report: CallReport): (attempt: Attempt) => void {
  const warned = new Set<string>()
  return (attempt) => {
    if (shared.debug === true || shared.trace === true) report.debug(callLine(attempt))
    if (shared.trace === true) for (const line of traceLines(attempt)) report.debug(line)
    const warning = retirement(attempt)
    if (warning === undefined || warned.has(warning)) return
    warned.add(warning)
    report.warn(warning)
  }
}

function callLine({ request, answer, failure, durationMs }: Attempt): string {
  const outcome = answer
    ? String(answer.status)
    : `failed: ${failure instanceof Error ? failure.message : String(failure)}`
  const correlation = request.headers['x-correlation-id'] ?? ''
  return `${request.method} ${request.path} ${outcome} ${durationMs.toFixed(1)} ms correlation_id=${correlation}`
}

function traceLines({ request, answer }: Attempt): readonly string[] {
  return [
    ...headerLines('>', redactHeaders(request.headers)),
    ...bodyLines('>', request.body),
    ...(answer ? [...headerLines('<', redactHeaders(answer.headers)), ...bodyLines('<', answer.body)] : []),
  ]
}

function headerLines(sign: string, headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).map(([name, value]) => `${sign} ${name}: ${harmless(value)}`)
}

function bodyLines(sign: string, body: string | Uint8Array | undefined): readonly string[] {
  if (body === undefined || body.length === 0) return []
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8')
  const isText = !text.includes('\ufffd')
  return [`${sign} ${isText ? harmless(redactBody(text.trimEnd())) : `(${body.length} bytes)`}`]
}

/** What RFC 9745 and RFC 8594 headers say, as one sentence. `Sunset` alone speaks of a credential (S1 Versioning 6). */
function retirement({ request, answer }: Attempt): string | undefined {
  const deprecation = answer?.headers['deprecation']
  if (deprecation === undefined) return undefined
  const seconds = /^@(\d{1,12})$/.exec(deprecation)?.[1]
  const since = seconds === undefined ? '' : ` since ${new Date(Number(seconds) * 1000).toISOString().slice(0, 10)}`
  const sunset = Date.parse(answer?.headers['sunset'] ?? '')
  const until = Number.isNaN(sunset) ? '' : ` and may be gone after ${new Date(sunset).toISOString().slice(0, 10)}`
  return `${request.method} ${request.path.replace(/\?.*$/, '')} is deprecated${since}${until}; update ctl or the script that calls it`
}
