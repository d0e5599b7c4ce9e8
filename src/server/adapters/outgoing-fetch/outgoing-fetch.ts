import type { Client, Dispatcher } from 'undici'
import {
  OutgoingFetchError,
  type OutgoingAnswer,
  type OutgoingFetch,
  type OutgoingRequest,
} from '../../ports/outgoing-fetch.ts'
import type { Connectors } from './connect.ts'
import { fetchFailure, gone } from './fetch-failure.ts'
import type { ResolveName } from './guarded-lookup.ts'

/** For a request with everything that belongs to it: name, connection, TLS, answer (decisions: Outgoing fetches). */
const DEADLINE_MS = 5000
const BODY_BYTES_MAX = 1024 * 1024
const HEADER_BYTES_MAX = 16 * 1024

export interface OutgoingFetchOptions {
  readonly deadlineMs?: number
  /** The longest body in bytes that any request may ask for. Default 1 MiB. */
  readonly bodyBytesMax?: number
  /** Replaces DNS in tests. */
  readonly resolve?: ResolveName | undefined
  /** Resolves names that must be at public addresses. Default: as the system does. */
  readonly publicNames?: ResolveName | undefined
}

/**
 * Makes the fetch over undici. Each request has its own connection, so that its address is checked each time and
 * nothing is left open. Proxies of the environment are not used: they would connect without these checks.
 */
export function createOutgoingFetch({
  deadlineMs = DEADLINE_MS,
  bodyBytesMax = BODY_BYTES_MAX,
  ...names
}: OutgoingFetchOptions = {}): OutgoingFetch {
  let loaded: Promise<Dialler> | undefined
  return async (text, request) => {
    const url = fetchable(text, request.allowPrivateNetwork)
    const { Client, connectors } = await (loaded ??= load(deadlineMs, names))
    const connect = request.allowPrivateNetwork ? connectors.anywhere : connectors.publicOnly
    const client = new Client(url.origin, { connect, maxHeaderSize: HEADER_BYTES_MAX, pipelining: 1 })
    const timeout = AbortSignal.timeout(deadlineMs)
    const signal = request.signal === undefined ? timeout : AbortSignal.any([timeout, request.signal])
    const end = (): void => void client.destroy(gone(timeout, deadlineMs)).catch(() => undefined)
    signal.addEventListener('abort', end, { once: true })
    try {
      if (signal.aborted) throw gone(timeout, deadlineMs)
      const bytesMax = Math.min(request.bodyBytesMax ?? bodyBytesMax, bodyBytesMax)
      return await exchange(client, url, { ...request, bodyBytesMax: bytesMax })
    } catch (error) {
      throw fetchFailure(error, { host: url.host, failure: signal.aborted ? gone(timeout, deadlineMs) : undefined })
    } finally {
      signal.removeEventListener('abort', end)
      end()
    }
  }
}

/** What opens connections. */
interface Dialler {
  readonly Client: typeof Client
  readonly connectors: Connectors
}

/** Loads undici for the first request: it is the largest library of the server, and most servers fetch nothing. */
async function load(
  deadlineMs: number,
  { resolve, publicNames }: Pick<OutgoingFetchOptions, 'resolve' | 'publicNames'>,
): Promise<Dialler> {
  const [{ Client }, { createConnectors }] = await Promise.all([import('undici'), import('./connect.ts')])
  return { Client, connectors: createConnectors(deadlineMs, resolve, publicNames) }
}

async function exchange(client: Client, url: URL, request: OutgoingRequest): Promise<OutgoingAnswer> {
  const { method = 'GET', headers, body = null, redirect = 'refused' } = request
  const { bodyBytesMax = BODY_BYTES_MAX, excess = 'refused' } = request
  const answer = await client.request({
    path: url.pathname + url.search,
    method,
    headers: { 'user-agent': 'ctl', accept: 'application/json', ...headers, 'accept-encoding': 'identity' },
    body,
  })
  if (redirect === 'refused' && answer.statusCode >= 300 && answer.statusCode < 400) {
    throw new OutgoingFetchError('redirect', `${url.host} answers with a redirect, which is not followed`)
  }
  const { headers: answered, statusCode: status } = answer
  const read = excess === 'cut' ? beginning : whole
  return { status, headers: plainHeaders(answered), body: await read(answer, bodyBytesMax) }
}

function fetchable(text: string, allowPrivateNetwork: boolean): URL {
  if (!URL.canParse(text) || !/^https?:/i.test(text)) {
    throw new OutgoingFetchError('forbidden_address', 'only http: and https: URLs can be fetched')
  }
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') {
    throw new OutgoingFetchError('forbidden_address', `the URL at ${url.host} carries a user name or password`)
  }
  if (url.protocol === 'http:' && !allowPrivateNetwork) {
    throw new OutgoingFetchError('forbidden_address', `${url.host} would be asked without TLS`)
  }
  return url
}

/** Reads the body. @throws OutgoingFetchError where it is longer than its limit. */
async function whole({ headers, body }: Dispatcher.ResponseData, bodyBytesMax: number): Promise<Buffer> {
  const tooLarge = (): OutgoingFetchError =>
    new OutgoingFetchError('too_large', `the answer is longer than ${bodyBytesMax} bytes`)
  if (Number(headers['content-length']) > bodyBytesMax) throw tooLarge()
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bodyBytesMax) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * Reads the body up to its limit and leaves the rest, which ends with the connection. A body that breaks off, or that is not over in
 * time, has a beginning too: the status has come, and the caller wants no more of the body than there is.
 */
async function beginning({ body }: Dispatcher.ResponseData, bodyBytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= bodyBytesMax) break
    }
  } catch {
    // What was read until then is the beginning.
  }
  return Buffer.concat(chunks).subarray(0, bodyBytesMax)
}

function plainHeaders(headers: Dispatcher.ResponseData['headers']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
}
