import { errors as jose } from 'jose'
import * as oidc from 'openid-client'
import { problem, type Problem } from '../../../shared/problems.ts'
import { OutgoingFetchError } from '../../ports/outgoing-fetch.ts'

/**
 * The problem for the person who signs in, after a failure of the identity provider. Its cause, for the log, names what
 * was wrong and nothing about the person. Undefined: a fault of this server.
 */
export function idpProblem(error: unknown): Problem | undefined {
  if (isOutage(error)) return problem('idp_unavailable', {}, new Error(says(error)))
  const isRefusal = REFUSALS.some((kind) => error instanceof kind)
  return isRefusal ? problem('sign_in_refused', {}, new Error(says(error))) : undefined
}

const REFUSALS = [oidc.ClientError, oidc.ResponseBodyError, oidc.AuthorizationResponseError, jose.JOSEError] as const

function isOutage(error: unknown): boolean {
  if (error instanceof OutgoingFetchError) return true
  if (error instanceof oidc.ResponseBodyError) return error.status >= 500
  if (!(error instanceof oidc.ClientError)) return false
  if (error.code === 'OAUTH_TIMEOUT' || error.cause instanceof OutgoingFetchError) return true
  return error.cause instanceof Response && error.cause.status >= 500
}

/** In words; codes of the provider as far as they are codes (RFC 6749 §5.2), since it chooses them. */
function says(error: unknown): string {
  if (!(error instanceof Error)) return 'the identity provider failed'
  const code = error instanceof oidc.ResponseBodyError || error instanceof oidc.AuthorizationResponseError
  if (code) return `${error.message}: ${/^[a-z_]{1,64}$/.test(error.error) ? error.error : 'no known error code'}`
  const claim = claimOf(error)
  return claim === undefined ? error.message : `${error.message}: ${claim}`
}

/** The claim that did not fit; the library's own error names it in its details. */
function claimOf(error: Error): string | undefined {
  const details = error.cause instanceof Error ? error.cause.cause : undefined
  const claim = typeof details === 'object' && details !== null && 'claim' in details ? details.claim : undefined
  return typeof claim === 'string' ? claim : undefined
}
