import * as oidc from 'openid-client'

/** A browser without scripts: it follows redirects, keeps cookies by path and sends forms. */
export interface PlainBrowser {
  /** Goes there and on to where it is sent, as far as a page or an address outside of `within`. */
  go(url: string | URL, within: string): Promise<Visited>
  /** Posts a form, or other members as JSON, from a page of that server. */
  post(url: string | URL, body: URLSearchParams | object, within: string): Promise<Visited>
  /** Fills in the form of that step and sends it. */
  send(page: Visited, step: string, fields?: Readonly<Record<string, string>>): Promise<Visited>
  readonly cookies: Map<string, Jarred>
}

interface Jarred {
  readonly value: string
  readonly path: string
  readonly attributes: string
}

/** Where a browser came to. */
export interface Visited {
  readonly url: URL
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

export function plainBrowser(): PlainBrowser {
  const cookies = new Map<string, Jarred>()

  function keep(headers: Headers, url: URL): void {
    for (const line of headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
      const at = pair.indexOf('=')
      const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? url.pathname
      const key = `${pair.slice(0, at)} ${path}`
      if (attributes.some((attribute) => /^(expires=Thu, 01 Jan 1970|max-age=0$)/i.test(attribute))) cookies.delete(key)
      else cookies.set(key, { value: pair, path, attributes: attributes.join('; ') })
    }
  }

  function cookieFor({ pathname }: URL): string {
    const fitting = [...cookies.values()].filter(
      ({ path }) => pathname === path || pathname.startsWith(`${path.replace(/\/$/, '')}/`),
    )
    return fitting.map(({ value }) => value).join('; ')
  }

  async function request(url: URL, init: RequestInit, within: string): Promise<Visited> {
    const cookie = cookieFor(url)
    const headers = { ...(init.headers as Record<string, string> | undefined), ...(cookie !== '' && { cookie }) }
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    keep(response.headers, url)
    const location = response.headers.get('location')
    const text = await response.text()
    if (location === null) return { url, status: response.status, text, headers: response.headers }
    const next = new URL(location, url)
    if (!next.href.startsWith(within)) return { url: next, status: response.status, text, headers: response.headers }
    return request(next, {}, within)
  }

  return {
    cookies,
    go: (url, within) => request(new URL(url), {}, within),
    post(url, fields, within) {
      const { origin } = new URL(url)
      const isForm = fields instanceof URLSearchParams
      const body = isForm ? fields : JSON.stringify(fields)
      const headers = { origin, accept: '*/*', ...(!isForm && { 'content-type': 'application/json' }) }
      return request(new URL(url), { method: 'POST', body, headers }, within)
    },
    send(page, step, fields = {}) {
      const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
      const action = /action="([^"]+)"/.exec(page.text)?.[1] ?? ''
      const body = new URLSearchParams({ csrf, step, ...fields })
      const url = new URL(action, page.url)
      return request(url, { method: 'POST', body, headers: { origin: url.origin } }, `${url.origin}/idp/`)
    },
  }
}

/** A sign-in as a relying party begins it. */
export interface BegunSignIn {
  readonly url: URL
  /** Takes the address that the browser was sent back to; resolves with the claims of the ID token. */
  finish(callback: URL): Promise<oidc.IDToken>
}

/** The relying party of a server, made with a library that knows nothing of it. */
export async function relyingParty(baseUrl: string) {
  const config = await oidc.discovery(new URL(`${baseUrl}/idp`), 'ctl', undefined, oidc.None(), {
    execute: [oidc.allowInsecureRequests],
  })
  return {
    config,
    async begin(parameters: Readonly<Record<string, string>> = {}): Promise<BegunSignIn> {
      const verifier = oidc.randomPKCECodeVerifier()
      const [state, nonce] = [oidc.randomState(), oidc.randomNonce()]
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: `${baseUrl}/v1/auth/callback`,
        scope: 'openid profile email',
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
        ...parameters,
      })
      return {
        url,
        async finish(callback) {
          const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce }
          const tokens = await oidc.authorizationCodeGrant(config, callback, checks)
          const claims = tokens.claims()
          if (claims === undefined) throw new Error('there is no ID token')
          return claims
        },
      }
    },
  }
}
