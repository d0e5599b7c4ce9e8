import { PROBLEMS, type ProblemCode } from '../problems.ts'
import type { JsonSchema } from './json-schema.ts'
import { COMMON_HEADERS, headersOf } from './openapi-headers.ts'
import type { Operation } from './operation.ts'
import { problemCodesOf, sentenceOf } from './problem-codes.ts'

type Json = Readonly<Record<string, unknown>>

const PROBLEM: JsonSchema = { $ref: '#/components/schemas/Problem' }
const OAUTH_PROBLEM: JsonSchema = { $ref: '#/components/schemas/OAuthProblem' }
const PERMISSION_DENIED: JsonSchema = { $ref: '#/components/schemas/PermissionDenied' }

/** Refusals before an operation is reached: the `default` answer of each operation. */
export const UNROUTED = {
  description:
    'Refused before an operation was reached: `invalid_request`, `invalid_path`, `request_timeout`, `headers_too_large`',
  headers: COMMON_HEADERS,
  content: { 'application/problem+json': { schema: PROBLEM } },
}

const RETRY_AFTER = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }

/** Headers of refusals with these statuses: how to sign in (RFC 9110 §15.5.2), and when to try again. */
const HEADERS_BY_STATUS: Readonly<Record<number, Json>> = {
  401: { 'WWW-Authenticate': { $ref: '#/components/headers/WWWAuthenticate' } },
  429: {
    ...RETRY_AFTER,
    RateLimit: { $ref: '#/components/headers/RateLimit' },
    'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
  },
  503: RETRY_AFTER,
}

/** One response per status, naming the codes that it may carry. */
export function problemResponsesOf(operation: Operation): Json {
  const byStatus = new Map<number, ProblemCode[]>()
  for (const code of problemCodesOf(operation)) {
    const { status } = PROBLEMS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const headers = headersOf(operation)
  const described = [...byStatus].map(([status, codes]) => {
    const description = codes.map((code) => `\`${code}\`: ${sentenceOf(operation, code)}`).join('\n\n')
    const answer = {
      description,
      headers: { ...headers, ...HEADERS_BY_STATUS[status] },
      content: contentOf(operation, codes),
      'x-service-codes': codes,
    }
    return [status, answer]
  })
  return { ...Object.fromEntries(described), default: { $ref: '#/components/responses/Unrouted' } }
}

/** The problems of the OAuth endpoints have the media type of RFC 6749 §5.2 for clients that accept JSON alone. */
function contentOf({ oauthErrors }: Operation, codes: readonly ProblemCode[]): Json {
  if (oauthErrors !== true) return { 'application/problem+json': { schema: schemaOf(codes) } }
  const media = { schema: withCodes(OAUTH_PROBLEM, codes) }
  return { 'application/problem+json': media, 'application/json': media }
}

/** A later server may refuse with a code of its own, also where today only a permission is refused. */
function schemaOf(codes: readonly ProblemCode[]): JsonSchema {
  if (!codes.includes('permission_denied')) return withCodes(PROBLEM, codes)
  return { anyOf: [PERMISSION_DENIED, withCodes(PROBLEM, codes)] }
}

/** Narrows `code` to an open enumeration: clients know the codes of the answer, and accept others. */
function withCodes(problem: JsonSchema, codes: readonly ProblemCode[]): JsonSchema {
  const code: JsonSchema = { anyOf: [{ type: 'string', enum: [...codes] }, { type: 'string' }] }
  return { allOf: [problem, { type: 'object', properties: { code } }] }
}
