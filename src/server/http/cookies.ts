/** The value of a cookie in a `Cookie` header (RFC 6265 §4.2); the first of several with that name. */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  if (header === undefined) return undefined
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=')
    if (at >= 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

/** A cookie to set. The server generates the values, so they need no quoting. */
export interface Cookie {
  readonly name: string
  readonly value: string
  readonly path: string
  readonly sameSite: 'Strict' | 'Lax'
  /** Whether scripts may not read it. */
  readonly isHttpOnly: boolean
  /** 0 clears it; without, it lives as long as the browser. */
  readonly maxAgeSeconds?: number
}

/** The `Set-Cookie` field of a cookie; `Secure` where the request came over TLS (S0 Authentication artefacts). */
export function setCookie(cookie: Cookie, isSecure: boolean): string {
  return [
    `${cookie.name}=${cookie.value}`,
    `Path=${cookie.path}`,
    `SameSite=${cookie.sameSite}`,
    ...(cookie.isHttpOnly ? ['HttpOnly'] : []),
    ...(isSecure ? ['Secure'] : []),
    ...(cookie.maxAgeSeconds === undefined ? [] : [`Max-Age=${cookie.maxAgeSeconds}`]),
  ].join('; ')
}
