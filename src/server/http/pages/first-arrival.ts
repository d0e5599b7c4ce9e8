import type { Arriving, PageAnswer, PageVisit } from './pages.ts'
import { pageDocument } from '../../../shared/pages/page-document.ts'
import { markup } from '../../../shared/pages/markup.ts'

/** The query member that marks a refreshed page, with the time; only this file uses it. */
const MARK = 'arrived'

/** How long a mark counts, s: with a bookmarked or shared address the refresh happens again. */
const MARK_SECONDS = 60

/** A target without the mark: what pages see of it, and what a sign-in may come back to. */
export function withoutMark(target: string): string {
  const [path, query] = split(target)
  if (query === undefined) return target
  const kept = query.split('&').filter((member) => !member.startsWith(`${MARK}=`))
  return kept.length === 0 ? path : `${path}?${kept.join('&')}`
}

/**
 * The address to which a page must redirect once before it may treat its visitor as signed out; undefined when it may do so now.
 * A `SameSite=Strict` cookie is not sent with a navigation that began on another site, as the return from an identity
 * provider there does; a refresh begins here and carries it (decisions: Session). Browsers say where a navigation began in
 * `Sec-Fetch-Site`, but not over plain HTTP off loopback (Fetch Metadata §2.1): there every first arrival counts.
 */
export function refreshTarget({ target, fetchSite, host, isSecure, nowMs }: Arriving): string | undefined {
  const mayLackCookie = fetchSite === 'cross-site' || (fetchSite === undefined && !isSecure && !isLoopback(host))
  if (!mayLackCookie || wasMarkedLately(target, nowMs)) return undefined
  const plain = withoutMark(target)
  return `${plain}${plain.includes('?') ? '&' : '?'}${MARK}=${Math.floor(nowMs / 1000)}`
}

/**
 * The answer to a visit that arrives without a session but may have one: a page that asks for itself again, once. A page
 * below `/v1/` answers with it before it starts a sign-in; undefined when the visitor is known, or known to be signed out.
 */
export function firstArrival(visit: PageVisit): PageAnswer | undefined {
  if (visit.session !== undefined || visit.method !== 'GET') return undefined
  const again = refreshTarget(visit.arriving)
  if (again === undefined) return undefined
  const body = markup`<p>One moment …</p>
<p><a href="${again}">Continue</a></p>`
  return { document: pageDocument({ title: 'One moment', body, refreshTo: again }) }
}

function wasMarkedLately(target: string, nowMs: number): boolean {
  const mark = new URLSearchParams(split(target)[1]).get(MARK)
  if (mark === null || !/^\d{1,12}$/.test(mark)) return false
  const ageSeconds = nowMs / 1000 - Number(mark)
  return ageSeconds >= 0 && ageSeconds <= MARK_SECONDS
}

function split(target: string): readonly [string, string | undefined] {
  const at = target.indexOf('?')
  return at < 0 ? [target, undefined] : [target.slice(0, at), target.slice(at + 1)]
}

/** Browsers trust these hosts without TLS (Secure Contexts §3.1). */
function isLoopback(host: string | undefined): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(host ?? '')
}
