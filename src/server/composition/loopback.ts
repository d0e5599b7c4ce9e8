import type { App } from '../http/app.ts'
import { createServerCallers } from '../http/held/server-callers.ts'
import type { CredentialResolver } from '../ports/credential-resolver.ts'
import type { Loopback } from '../ports/loopback.ts'

/** The way from a slice to the server's own API, which is composed after the slices. */
export interface BoundLoopback {
  readonly loopback: Loopback
  /** Resolves the credential of such a call. */
  readonly resolver: CredentialResolver
  bind(app: Pick<App, 'fastify'>): void
}

/** Creates the way. It leads to nothing before `bind`. */
export function createLoopback(): BoundLoopback {
  const callers = createServerCallers()
  let bound: Pick<App, 'fastify'> | undefined
  return {
    resolver: callers.resolver,
    bind(app) {
      bound = app
    },
    loopback: {
      call(caller, { method, url, body, ifMatch, sourceAddress }) {
        const { fastify } = bound ?? missing()
        return callers.present(caller, async (bearer) => {
          const headers = {
            authorization: `Bearer ${bearer}`,
            ...(body !== '' && { 'content-type': 'application/json' }),
            ...(ifMatch !== undefined && { 'if-match': ifMatch }),
          }
          const sent = { url, headers, remoteAddress: sourceAddress, ...(body !== '' && { payload: body }) }
          // A held call was received with its method before.
          const response = await fastify.inject({ ...sent, method: method as 'POST' })
          return { status: response.statusCode, code: codeOf(response.headers['content-type'], response.body) }
        })
      },
    },
  }
}

function missing(): never {
  throw new Error('the server does not serve its own requests yet')
}

function codeOf(media: unknown, body: string): string | undefined {
  if (typeof media !== 'string' || !media.startsWith('application/problem+json')) return undefined
  const { code } = JSON.parse(body) as { readonly code?: unknown }
  return typeof code === 'string' ? code : undefined
}
