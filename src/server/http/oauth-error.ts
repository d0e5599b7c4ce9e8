import { Problem, type ProblemCode } from '../../shared/problems.ts'

/** Problem codes that are also error codes of RFC 6749 §5.2 and RFC 8628 §3.5. */
const SAME: ReadonlySet<ProblemCode> = new Set([
  'authorization_pending',
  'slow_down',
  'access_denied',
  'expired_token',
  'invalid_grant',
  'invalid_client',
  'invalid_scope',
  'unsupported_grant_type',
])

/** The problem with the member `error` that OAuth clients read; a problem without an OAuth code is mapped by its status. */
export function withOauthError({ code, status, extras, cause }: Problem): Problem {
  const error = SAME.has(code) ? code : byStatus(status)
  return new Problem(code, { ...extras, error }, cause)
}

function byStatus(status: number): string {
  if (status === 429 || status === 503) return 'temporarily_unavailable'
  return status >= 500 ? 'server_error' : 'invalid_request'
}

const PROBLEM_MEDIA = 'application/problem+json'

/**
 * The media type of such a problem: that of every problem, except to clients that name JSON and not it. Those are OAuth
 * clients, which refuse anything but the `application/json` of RFC 6749 §5.2.
 */
export function oauthErrorMedia(accept: string | undefined): string {
  const isPlain = accept !== undefined && accept.includes('application/json') && !accept.includes(PROBLEM_MEDIA)
  return isPlain ? 'application/json' : PROBLEM_MEDIA
}
