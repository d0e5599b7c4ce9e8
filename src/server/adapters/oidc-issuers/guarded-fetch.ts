import type { IssuerAddress } from '../../ports/issuers.ts'
import { OutgoingFetchError, type OutgoingFetch } from '../../ports/outgoing-fetch.ts'

/** A provider in this process: requests to it need no socket. */
export interface OwnIssuer {
  readonly issuer: string
  readonly fetch: typeof fetch
}

/** Answers with these must have no body (Fetch Standard, null body status). */
const BODILESS = new Set([204, 205, 304])

/**
 * A `fetch` for an issuer: through the guard, or into this process where the issuer is this server itself. A redirect is
 * an error, or with `redirect: 'manual'` the answer; it is never followed.
 */
export function fetchOver(outgoing: OutgoingFetch, own: OwnIssuer | undefined) {
  return (at: IssuerAddress): typeof fetch =>
    async (input, init) => {
      const request = new Request(input, init)
      if (at.isBundled) return askOwn(own, at, request)
      const body = Buffer.from(await request.arrayBuffer())
      const answer = await outgoing(request.url, {
        method: methodOf(request.method),
        headers: Object.fromEntries(request.headers),
        ...(body.length > 0 && { body }),
        allowPrivateNetwork: at.allowPrivateNetwork,
        redirect: request.redirect === 'manual' ? 'returned' : 'refused',
        signal: request.signal,
      })
      const content = BODILESS.has(answer.status) ? null : new Uint8Array(answer.body)
      return new Response(content, { status: answer.status, headers: answer.headers })
    }
}

function methodOf(method: string): 'GET' | 'POST' {
  if (method === 'GET' || method === 'POST') return method
  throw new TypeError(`nothing asks an issuer by ${method}`)
}

async function askOwn(own: OwnIssuer | undefined, at: IssuerAddress, request: Request): Promise<Response> {
  if (own?.issuer !== at.issuer) throw new OutgoingFetchError('unreachable', 'the bundled provider does not run here')
  if (new URL(request.url).origin !== new URL(own.issuer).origin) {
    throw new OutgoingFetchError('forbidden_address', 'the bundled provider was asked for another server')
  }
  return own.fetch(request)
}
