/** The headers in which a browser states the origin of a request. */
export interface RequestOrigin {
  readonly origin: string | undefined
  readonly fetchSite: string | undefined
}

/** Where cookie-authenticated changes may come from. */
export interface AllowedOrigins {
  /** The server's own origin; undefined where it is not configured. */
  readonly own: string | undefined
  /** The server's own origin and those of other consoles. */
  readonly all: ReadonlySet<string>
}

/**
 * Decides whether a cookie-authenticated change may come from the origin (decisions: CSRF): a present `Origin` must be
 * allowed; without one `Sec-Fetch-Site` must not say that another site or a sibling sent it. No browser sends the
 * server's own origin from another site, so a request that claims both is forged.
 */
export function isOriginAllowed({ origin, fetchSite }: RequestOrigin, { own, all }: AllowedOrigins): boolean {
  if (origin !== undefined) return all.has(origin) && !(origin === own && fetchSite === 'cross-site')
  return fetchSite !== 'cross-site' && fetchSite !== 'same-site'
}
