import inject from 'light-my-request'
import type { OwnIssuer } from '../oidc-issuers/guarded-fetch.ts'
import type { BundledProvider } from './bundled-provider.ts'

/**
 * Asks the bundled provider without a socket: its discovery, keys and tokens are available whatever proxy, certificate or
 * firewall is between this server and its own address.
 */
export function createOwnIssuer({ handle, prefix }: BundledProvider, baseUrl: string): OwnIssuer {
  return {
    issuer: `${baseUrl}${prefix}`,
    async fetch(input, init) {
      const request = new Request(input, init)
      const { pathname, search, host } = new URL(request.url)
      const answer = await inject(handle, {
        // The methods of a `Request` are those that HTTP has.
        method: request.method as 'GET' | 'POST',
        url: `${pathname}${search}`,
        headers: { ...Object.fromEntries(request.headers), host },
        payload: Buffer.from(await request.arrayBuffer()),
      })
      const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)])
      return new Response(answer.rawPayload, { status: answer.statusCode, headers })
    },
  }
}
