/** What a browser says of where a request comes from. */
export interface RequestOrigin {
  readonly origin: string | undefined
  readonly fetchSite: string | undefined
}

/**
 * Tells whether a cookie-authenticated change may come from there (decisions: CSRF): a present `Origin` must be
 * allowed; without one `Sec-Fetch-Site` must not say that another site or a sibling sent it.
 */
export function isOriginAllowed({ origin, fetchSite }: RequestOrigin, allowed: ReadonlySet<string>): boolean {
  if (origin !== undefined) return allowed.has(origin)
  return fetchSite !== 'cross-site' && fetchSite !== 'same-site'
}
