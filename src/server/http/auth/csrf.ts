import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { problem } from '../../../shared/problems.ts'

/** The anti-forgery token of a session, by the session's id. */
export type CsrfTokens = (sessionId: string) => string

/**
 * Requires the token that the server's pages read from the `service_csrf` cookie and echo in `X-CSRF-Token`
 * (decisions: CSRF). The token is bound to the session, so that a cookie planted by a sibling site is worth nothing.
 *
 * @throws Problem `csrf_failed`
 */
export function assertDoubleSubmit(
  sessionId: string,
  headers: IncomingHttpHeaders,
  tokens: CsrfTokens | undefined,
): void {
  const echoed = headers['x-csrf-token']
  const wanted = tokens?.(sessionId)
  if (typeof echoed !== 'string' || wanted === undefined || !isSame(echoed, wanted)) throw problem('csrf_failed')
}

/**
 * Requires the token that the page of a posted form carries, since a form can send no header.
 *
 * @throws Problem `csrf_failed`
 */
export function assertFormToken(form: URLSearchParams, wanted: string): void {
  if (!isSame(form.get('csrf_token') ?? '', wanted)) throw problem('csrf_failed')
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}
