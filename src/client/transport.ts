import type { Agent, AgentOptions, ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type { Readable } from 'node:stream'
import { TransportFailure } from './failures.ts'

/** One HTTP request, addressed by path. The transport adds the server. */
export interface HttpRequest {
  readonly method: string
  /** Path and query, beginning with `/`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  /** Deadline for the whole answer, in ms; no deadline when absent. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** A complete answer. Header names are lower case; repeated headers are joined with `, `. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** An answer whose body has not been read. The caller must read it to its end or destroy it. */
export interface OpenAnswer extends Omit<HttpAnswer, 'body'> {
  readonly body: Readable
}

/** Carries requests to one server over kept-alive connections. */
export interface Transport {
  /** Base URL of the server, without a trailing slash. */
  readonly url: string
  /** Sends once, without retrying. Throws `TransportFailure`; any HTTP status is an answer. */
  exchange(request: HttpRequest): Promise<HttpAnswer>
  /**
   * Like `exchange`, but resolves when the head of the answer arrives. The deadline applies to the head; the signal also
   * ends the body. Each call uses its own connection, without a limit on their number.
   */
  open(request: HttpRequest): Promise<OpenAnswer>
  /** Closes idle connections, so that the process can exit. */
  close(): void
}

export interface TransportOptions {
  /** `http://…`, `https://…`, or `unix:/path/to/socket`; a path in front of `/v1` is kept. */
  readonly url: string
  /** Certificates to trust in addition to the default ones, PEM. Only for `https:`. */
  readonly ca?: string | undefined
  /** The only certificate authority to trust, PEM; goes before `ca`. Only for `https:`. */
  readonly pinnedCa?: string | undefined
  /** Maximum number of connections; 64 when absent. */
  readonly socketsMax?: number | undefined
}

/** Which certificate authorities a transport trusts. */
export type Trust = Pick<TransportOptions, 'ca' | 'pinnedCa'>

/** Maximum size of an answer, in bytes. A page of 200 rows is far smaller. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024

type RequestFunction = (options: RequestOptions, answered: (message: IncomingMessage) => void) => ClientRequest

interface Wire {
  readonly request: RequestFunction
  readonly agent: Agent
  /** For streams: each connection is used once and not limited. */
  readonly streamAgent: Agent
  readonly target: RequestOptions
  readonly prefix: string
}

/** Makes a transport. It connects with the first request. @throws TypeError if the URL is not supported. */
export function createTransport(options: TransportOptions): Transport {
  const url = options.url.replace(/(?<!\/)\/+$/, '')
  assertSupported(url)
  let wire: Wire | undefined
  return {
    url,
    async exchange(request) {
      wire ??= openWire(url, options)
      return exchange(wire, request)
    },
    async open(request) {
      wire ??= openWire(url, options)
      return open(wire, request)
    },
    close() {
      wire?.agent.destroy()
      wire?.streamAgent.destroy()
    },
  }
}

function assertSupported(url: string): void {
  if (/^unix:\/./.test(url)) return
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const carriable = parsed && (parsed.protocol === 'http:' || parsed.protocol === 'https:')
  if (!carriable) throw new TypeError(`${url} is not an http:, https: or unix: URL`)
  if (parsed.username || parsed.search || parsed.hash) throw new TypeError(`${url} must be a plain base URL`)
}

/**
 * Loads only the module that the URL needs, because loading modules is half of the start-up time of a call. Not with `import()`,
 * which in the built command line first loads the ES module loader of Node.js.
 */
function openWire(url: string, { socketsMax = 64, ...trust }: TransportOptions): Wire {
  if (url.startsWith('unix:')) {
    const http = process.getBuiltinModule('node:http')
    const target = { socketPath: url.slice('unix:'.length) }
    return { request: http.request, ...agents((more) => new http.Agent(more), socketsMax), target, prefix: '' }
  }
  const { protocol, hostname, port, pathname } = new URL(url)
  const target = { hostname: hostname.replace(/^\[|\]$/g, ''), ...(port && { port }) }
  const prefix = pathname === '/' ? '' : pathname
  if (protocol === 'https:') {
    const [https, tls] = [process.getBuiltinModule('node:https'), process.getBuiltinModule('node:tls')]
    const trusted = trustedBy(trust, tls.rootCertificates)
    return {
      request: https.request,
      ...agents((more) => new https.Agent({ ...trusted, ...more }), socketsMax),
      target,
      prefix,
    }
  }
  const http = process.getBuiltinModule('node:http')
  return { request: http.request, ...agents((more) => new http.Agent(more), socketsMax), target, prefix }
}

/** The `ca` of a TLS connection. `roots`: the authorities that Node.js trusts. */
export function trustedBy({ ca, pinnedCa }: Trust, roots: readonly string[]): { readonly ca?: string[] } {
  if (pinnedCa !== undefined) return { ca: [pinnedCa] }
  return ca === undefined ? {} : { ca: [...roots, ca] }
}

/** The agent for requests, which keeps connections alive, and the agent for streams. */
function agents(make: (options: AgentOptions) => Agent, maxSockets: number): Pick<Wire, 'agent' | 'streamAgent'> {
  return { agent: make({ keepAlive: true, maxSockets }), streamAgent: make({}) }
}

function optionsOf({ target, prefix }: Wire, request: HttpRequest): RequestOptions {
  return { ...target, method: request.method, path: prefix + request.path, headers: withLength(request) }
}

function exchange(wire: Wire, request: HttpRequest): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    if (request.signal?.aborted) return reject(new TransportFailure('aborted', 'the call was given up'))
    const outgoing = wire.request({ ...optionsOf(wire, request), agent: wire.agent }, (message) => {
      read(message).then(settle(resolve), settle(fail))
    })
    const stop = watchLimits(request, outgoing)
    const settle =
      <T>(then: (value: T) => void) =>
      (value: T) => {
        stop()
        then(value)
      }
    const fail = (error: Error): void => reject(asFailure(error))
    outgoing.on('error', settle(fail))
    outgoing.end(request.body)
    return undefined
  })
}

function open(wire: Wire, request: HttpRequest): Promise<OpenAnswer> {
  return new Promise((resolve, reject) => {
    const { signal } = request
    if (signal?.aborted) return reject(new TransportFailure('aborted', 'the call was given up'))
    const outgoing = wire.request({ ...optionsOf(wire, request), agent: wire.streamAgent }, (message) => {
      stop()
      const abort = (): void => void message.destroy(new TransportFailure('aborted', 'the stream was given up'))
      signal?.addEventListener('abort', abort, { once: true })
      message.once('close', () => signal?.removeEventListener('abort', abort))
      resolve({ status: message.statusCode ?? 0, headers: joined(message), body: message })
    })
    const stop = watchLimits(request, outgoing)
    outgoing.on('error', (error) => {
      stop()
      reject(asFailure(error))
    })
    outgoing.end(request.body)
    return undefined
  })
}

/** Reads the body of an open answer, for example of a refused stream. @throws TransportFailure */
export async function readToEnd({ status, headers, body }: OpenAnswer, timeoutMs: number): Promise<HttpAnswer> {
  const late = new TransportFailure('timeout', `no whole answer within ${Math.round(timeoutMs)} ms`)
  const timer = setTimeout(() => body.destroy(late), timeoutMs)
  try {
    return { status, headers, body: await wholeBody(body, 0) }
  } catch (error) {
    throw asFailure(error)
  } finally {
    clearTimeout(timer)
  }
}

/** Ends the request at its deadline or when its signal is aborted. Returns a function that stops watching. */
function watchLimits({ timeoutMs, signal }: HttpRequest, outgoing: ClientRequest): () => void {
  const expire = (): void => {
    outgoing.destroy(new TransportFailure('timeout', `no answer within ${Math.round(timeoutMs ?? 0)} ms`))
  }
  const abort = (): void => {
    outgoing.destroy(new TransportFailure('aborted', 'the call was given up'))
  }
  const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs)
  signal?.addEventListener('abort', abort, { once: true })
  return () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

function withLength({ headers, body }: HttpRequest): Record<string, string | number> {
  if (body === undefined) return { ...headers }
  return { ...headers, 'content-length': Buffer.byteLength(body) }
}

async function read(message: IncomingMessage): Promise<HttpAnswer> {
  const body = await wholeBody(message, Number(message.headers['content-length'] ?? 0))
  return { status: message.statusCode ?? 0, headers: joined(message), body }
}

/**
 * Reads the body into one buffer of the announced length, which saves a second copy of large bodies. `announced`:
 * `Content-Length`, or 0.
 */
function wholeBody(body: Readable, announced: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let buffer = Buffer.allocUnsafe(Math.min(announced, ANSWER_BYTES_MAX))
    let bytes = 0
    body.on('data', (chunk: Buffer) => {
      const end = bytes + chunk.length
      if (end > ANSWER_BYTES_MAX) {
        body.destroy(new TransportFailure('too_large', 'the answer is over 64 MiB'))
        return
      }
      if (end > buffer.length) buffer = Buffer.concat([buffer.subarray(0, bytes)], Math.max(2 * buffer.length, end))
      chunk.copy(buffer, bytes)
      bytes = end
    })
    body.on('error', reject)
    body.on('end', () => resolve(buffer.subarray(0, bytes)))
  })
}

function joined({ headers }: IncomingMessage): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return flat
}

/** Error codes that mean that no server received the request. */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'EACCES',
])

/** Translates an error of Node.js into a `TransportFailure`. */
export function asFailure(error: unknown): TransportFailure {
  if (error instanceof TransportFailure) return error
  const { code, message } = error instanceof Error ? { code: codeOf(error), message: error.message } : UNKNOWN
  if (NEVER_CONNECTED.has(code)) return new TransportFailure('unreachable', `no connection (${code})`, error)
  if (/CERT|SELF_SIGNED|ISSUER|VERIFY|ALTNAME/.test(code))
    return new TransportFailure('untrusted', `its certificate is not trusted here (${code})`, error)
  // Errors of the HTTP parser: the bytes are not HTTP.
  if (code.startsWith('HPE_')) return new TransportFailure('unreadable', `it does not speak HTTP (${code})`, error)
  return new TransportFailure('broken', `the connection broke (${code || message})`, error)
}

const UNKNOWN = { code: '', message: 'unknown' }

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : ''
}
