import type { IncomingMessage, ServerResponse } from 'node:http'
import { FORM_BYTES_MAX } from './form.ts'
import type { AnswerRequest, ProviderDeps } from './provider.ts'
import { createKeptOpen } from './versioned-singleton.ts'
import { redirectNotices } from './redirect-notices.ts'
import { notice, sendPage } from './pages/page.ts'
import { MOUNT_PATH } from './relying-party.ts'
import { keysInTurn } from './signing-keys.ts'

export interface BundledProviderDeps extends ProviderDeps {
  /** Takes one token of an address; returns 0, or the ms until the next one. */
  readonly takeAddress: (address: string) => number
}

/** Requests that cost a hash or write to the datastore. The server itself requests tokens. */
const LIMITED = /^(?:GET|POST) \/idp\/auth(?:\?|$)|^POST \/idp\/interaction\//

/** A mounted route that serves requests from the first byte of the body to the last of the answer. */
export interface BundledProvider {
  readonly prefix: '/idp'
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
}

/** Serves the provider beside the API. Nothing of it is loaded before the first request for it; it is opened again after a key rotation. */
export function createBundledProvider(deps: BundledProviderDeps): BundledProvider {
  const open = createKeptOpen({ ...deps, version: () => keysInTurn(deps), open: () => openLate(deps) })
  const answering = { ...deps, open }
  return { prefix: MOUNT_PATH, handle: (request, response) => void answer(request, response, answering) }
}

async function openLate(deps: ProviderDeps): Promise<AnswerRequest> {
  redirectNotices(deps.log)
  const { openProvider } = await import('./provider.ts')
  return openProvider(deps)
}

interface Answering extends BundledProviderDeps {
  readonly open: () => Promise<AnswerRequest>
}

async function answer(request: IncomingMessage, response: ServerResponse, deps: Answering): Promise<void> {
  try {
    const waitMs = LIMITED.test(`${request.method} ${request.url}`) ? deps.takeAddress(deps.clientAddress(request)) : 0
    if (waitMs > 0) return refuse(response, 429, { 'retry-after': String(Math.ceil(waitMs / 1000)) })
    if (Number(request.headers['content-length'] ?? 0) > FORM_BYTES_MAX) return refuse(response, 413, CLOSE)
    const respond = await deps.open()
    await respond(request, response)
  } catch (error) {
    deps.log.error({ err: error }, 'the bundled provider could not answer')
    if (response.headersSent) response.destroy()
    else refuse(response, 503, CLOSE)
  }
}

const CLOSE = { connection: 'close' }

const SENTENCES: Readonly<Record<number, string>> = {
  413: 'The form is too long.',
  429: 'Too many sign-ins from your address. Wait a minute and try again.',
  503: 'Signing in does not work right now. Try again in a minute.',
}

function refuse(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>): void {
  sendPage(response, { status, headers }, notice('Signing in did not work', SENTENCES[status] ?? ''))
}
