import { API_COOKIE_PATH, type ApiVersions } from './api-version.ts'

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

/** Where a cookie is sent back to. */
export interface CookieScope {
  /** Whether the request came over TLS (S0 Authentication artefacts). */
  readonly isSecure: boolean
  readonly versions: Pick<ApiVersions, 'prefixes'>
}

/** The `Set-Cookie` fields of a cookie: one, or one for each major version where it belongs to the API. */
export function setCookie(cookie: Cookie, { isSecure, versions }: CookieScope): readonly string[] {
  const paths = cookie.path === API_COOKIE_PATH ? versions.prefixes : [cookie.path]
  return paths.map((path) => fieldOf({ ...cookie, path }, isSecure))
}

function fieldOf(cookie: Cookie, isSecure: boolean): string {
  return [
    `${cookie.name}=${cookie.value}`,
    `Path=${cookie.path}`,
    `SameSite=${cookie.sameSite}`,
    ...(cookie.isHttpOnly ? ['HttpOnly'] : []),
    ...(isSecure ? ['Secure'] : []),
    ...(cookie.maxAgeSeconds === undefined ? [] : [`Max-Age=${cookie.maxAgeSeconds}`]),
  ].join('; ')
}
