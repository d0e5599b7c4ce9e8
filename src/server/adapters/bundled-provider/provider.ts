import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { errors, interactionPolicy, Provider } from 'oidc-provider'
import type { Logger } from 'pino'
import type { Keyring } from '../../ports/keyring.ts'
import type { LocalSignIn } from '../../ports/local-sign-in.ts'
import { configurationOf } from './configuration.ts'
import { cookieKeysOf, createFormGuard } from './form-guard.ts'
import { createInteractions } from './interaction.ts'
import { createPasskeys } from './passkeys.ts'
import { createProgressStore } from './progress.ts'
import { issuerOf, MOUNT_PATH } from './relying-party.ts'
import { openSigningKeys } from './signing-keys.ts'
import { createStateAdapter, type StateDeps } from './state-adapter.ts'

export interface ProviderDeps extends StateDeps {
  /** The origin under which clients reach the server. */
  readonly baseUrl: string
  readonly keyring: Keyring
  readonly signIn: LocalSignIn
  readonly log: Logger
  readonly clientAddress: (request: IncomingMessage) => string
}

/** Answers a request beneath the mount path. */
export type AnswerRequest = (request: IncomingMessage, response: ServerResponse) => Promise<void>

const INTERACTION = /^\/idp\/interaction\/[\w-]{1,64}(?:\?|$)/

/** Opens the provider: reads its keys, or creates the first ones. */
export async function openProvider(deps: ProviderDeps): Promise<AnswerRequest> {
  const { baseUrl, keyring, signIn, log } = deps
  const adapter = createStateAdapter(deps, () => new errors.InvalidGrant('authorization code already consumed'))
  const jwks = await openSigningKeys(deps)
  const cookieKeys = cookieKeysOf(keyring)
  const configuration = configurationOf({ baseUrl, adapter, jwks, cookieKeys, signIn, policy: interactionPolicy })
  const provider = new Provider(issuerOf(baseUrl), configuration)
  // Its own address is set below; what a request claims about that address is ignored.
  provider.proxy = true
  provider.on('server_error', (_ctx, error) => log.error({ err: error }, 'the bundled provider failed'))
  // Koa's own event, missing in the library's types; without a listener Koa prints to the console.
  const koa: EventEmitter = provider
  koa.on('error', (error: unknown) => log.warn({ err: error }, 'a request of the bundled provider broke off'))
  const interact = createInteractions({
    ...deps,
    provider,
    passkeys: createPasskeys(baseUrl, signIn),
    progress: createProgressStore(adapter),
    guard: createFormGuard(keyring, new URL(baseUrl).origin),
  })
  const answer = provider.callback()
  return async (request, response) => {
    pinAddress(request, baseUrl)
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value)
    if (INTERACTION.test(request.url ?? '')) return interact({ request, response })
    // Set as express and connect do: the library derives its mount path from it.
    Object.assign(request, { originalUrl: request.url })
    request.url = (request.url ?? '').slice(MOUNT_PATH.length)
    await answer(request, response)
  }
}

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': "frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  // Forms of this provider must still send their origin.
  'referrer-policy': 'same-origin',
}

/** The library builds addresses and cookies from these fields, which any client can send (RFC 9110 §17.1). */
function pinAddress({ headers }: IncomingMessage, baseUrl: string): void {
  const { host, protocol } = new URL(baseUrl)
  headers.host = host
  headers['x-forwarded-proto'] = protocol.slice(0, -1)
  delete headers['x-forwarded-host']
  delete headers[':authority']
}
