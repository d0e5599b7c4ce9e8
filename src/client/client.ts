import type { Manifest, ManifestOperation } from '../shared/contract/manifest-format.ts'
import type { Operations, Result, Sending } from '../shared/contract/operation.ts'
import { shapeFault } from './answer-shape.ts'
import { ProblemAnswer, TransportFailure, type ProblemDocument } from './failures.ts'
import { foreignServer, mayRefuse, misshapenAnswer, namesItself, undeclaredStatus } from './foreign-server.ts'
import { retryAfterSeconds, systemRetryClock, withRetries, type RetryClock } from './retry.ts'
import type { HttpAnswer, HttpRequest, OpenAnswer, Transport } from './transport.ts'

export interface CallOptions {
  /** Presented instead of the client's own credential; null presents none. */
  readonly token?: string | null | undefined
  /** For the whole call with its retries, in ms. Default: the client's. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Sent as `X-Correlation-Id`; minted when absent. */
  readonly correlationId?: string | undefined
  /** The caller parses the answer itself, so only its being JSON is checked. */
  readonly isParsedByCaller?: boolean | undefined
  /** Further request headers, lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The members of an operation: path and query ones side by side, and the body under its own name. */
export type CallInput = Readonly<Record<string, unknown>>

/** A decoded answer: JSON, bytes of another media type, or undefined for an empty one. */
export interface Reply<T = unknown> {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly value: T
}

/** One try, as it went over the wire; `answer` is absent when none came. Carries secrets: redact before showing. */
export interface Attempt {
  readonly operation: ManifestOperation | undefined
  readonly url: string
  readonly request: HttpRequest
  readonly answer: HttpAnswer | undefined
  readonly failure: unknown
  readonly durationMs: number
}

export interface ClientDeps {
  readonly manifest: Manifest
  readonly transport: Transport
  /** The credential to present, asked for each call; undefined presents none. */
  readonly token?: (() => string | undefined | Promise<string | undefined>) | undefined
  /** For a call with its retries, in ms; 30,000 when absent. */
  readonly timeoutMs?: number | undefined
  /** Tries at most of a call that may be repeated; 5 when absent. */
  readonly triesMax?: number | undefined
  /** Gives up every call when aborted. */
  readonly signal?: AbortSignal | undefined
  /** Told of every try. */
  readonly observe?: ((attempt: Attempt) => void) | undefined
  readonly userAgent?: string | undefined
  readonly clock?: RetryClock | undefined
}

/** Calls operations by their manifest entry, without types. */
export interface Caller {
  /**
   * Throws `ProblemAnswer` for a refusal, `TransportFailure` when no usable answer came: what arrives is compared with
   * what the operation answers, so that the answer of another server is never taken for one.
   */
  call(operation: ManifestOperation, input: CallInput, options?: CallOptions): Promise<Reply>
  /** The request with every header that `send` would give it, the credential among them. Sends nothing. */
  prepare(request: HttpRequest, options?: CallOptions): Promise<HttpRequest>
  /** Sends a request as it is, with credential, correlation id and retries; any status is an answer. */
  send(request: HttpRequest, options: SendOptions): Promise<HttpAnswer>
  /** Sends it once and answers when the head of the answer is here; the timeout is for the head. */
  open(request: HttpRequest, options?: OpenOptions): Promise<OpenAnswer>
}

export interface SendOptions extends CallOptions {
  readonly operation?: ManifestOperation | undefined
  readonly repeatable: boolean
}

export interface OpenOptions extends CallOptions {
  readonly operation?: ManifestOperation | undefined
}

type OperationsOf<C> = { [S in keyof C]: C[S] extends { readonly operations: infer O } ? O : never }[keyof C]
type Intersected<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer A) => void ? A : never
type Arguments<I> = object extends I ? [input?: I, options?: CallOptions] : [input: I, options?: CallOptions]

type Streaming = { readonly responses: { readonly 200: { readonly streams: true } } }

/** One method per operation of the surfaces `C`, named after it. Those whose answer goes on are no calls: see `followStream`. */
export type Client<C> = {
  readonly [
    Id in keyof Intersected<OperationsOf<C>> as Intersected<OperationsOf<C>>[Id] extends Streaming ? never : Id
  ]: (
    ...args: Arguments<Sending<Intersected<OperationsOf<C>>[Id]>>
  ) => Promise<Result<Intersected<OperationsOf<C>>[Id]>>
}

type Surfaces = { readonly [surface: string]: { readonly operations: Operations } }

const JSON_MEDIA = 'application/json'
/** What an observer sees of a body that is still to come. */
const NOTHING_YET = Buffer.alloc(0)

/** Makes the untyped caller over a manifest's operations. */
export function createCaller(deps: ClientDeps): Caller {
  const { transport, timeoutMs = 30_000, triesMax, observe = () => undefined, clock = systemRetryClock } = deps

  async function observed<T extends HttpAnswer | OpenAnswer>(
    request: HttpRequest,
    operation: ManifestOperation | undefined,
    act: (request: HttpRequest) => Promise<T>,
  ): Promise<T> {
    const startedMs = clock.nowMs()
    const report = (answer: T | undefined, failure: unknown): void =>
      observe({
        operation,
        url: transport.url,
        request,
        answer: answer && { ...answer, body: Buffer.isBuffer(answer.body) ? answer.body : NOTHING_YET },
        failure,
        durationMs: clock.nowMs() - startedMs,
      })
    try {
      const answer = await act(request)
      report(answer, undefined)
      return answer
    } catch (failure) {
      report(undefined, failure)
      throw failure
    }
  }

  async function headersOf(request: HttpRequest, options: CallOptions): Promise<Record<string, string>> {
    const token = options.token === undefined ? await deps.token?.() : options.token
    return {
      accept: `${JSON_MEDIA}, application/problem+json`,
      'x-correlation-id': options.correlationId ?? mintCorrelationId(clock),
      ...(deps.userAgent !== undefined && { 'user-agent': deps.userAgent }),
      ...(token !== undefined && token !== null && { authorization: `Bearer ${token}` }),
      ...request.headers,
      ...options.headers,
    }
  }

  async function send(request: HttpRequest, options: SendOptions): Promise<HttpAnswer> {
    const headers = await headersOf(request, options)
    const signal = options.signal ?? deps.signal
    return withRetries(
      (remainingMs) =>
        observed({ ...request, headers, timeoutMs: remainingMs, signal }, options.operation, (one) =>
          transport.exchange(one),
        ),
      { repeatable: options.repeatable, triesMax, timeoutMs: options.timeoutMs ?? timeoutMs, signal },
      clock,
    )
  }

  return {
    send,
    prepare: async (request, options = {}) => ({ ...request, headers: await headersOf(request, options) }),
    async open(request, options = {}) {
      const headers = await headersOf(request, options)
      const limits = { timeoutMs: options.timeoutMs ?? timeoutMs, signal: options.signal ?? deps.signal }
      return observed({ ...request, headers, ...limits }, options.operation, (one) => transport.open(one))
    },
    async call(operation, input, options = {}) {
      const request = requestOf(operation, input)
      const answer = await send(request, { ...options, operation, repeatable: operation.idempotent })
      return { status: answer.status, headers: answer.headers, value: answeredValue(operation, answer, options) }
    },
  }
}

/** Makes the client of the surfaces `C`; the types come from the contract, the behaviour from the manifest alone. */
export function createClient<C extends Surfaces>(deps: ClientDeps): Client<C> {
  return createClientOver<C>(createCaller(deps), deps.manifest)
}

/** Puts the typed methods over a caller. */
export function createClientOver<C extends Surfaces>(caller: Caller, manifest: Manifest): Client<C> {
  const called = Object.values(manifest.operations).filter((operation) => !isStream(operation))
  const methods = called.map((operation) => [
    operation.id,
    async (input: CallInput = {}, options?: CallOptions) => (await caller.call(operation, input, options)).value,
  ])
  // The manifest is generated from the same contract that `C` is the type of.
  const client: Client<C> = Object.fromEntries(methods)
  return client
}

/** Whether the answer of an operation goes on until one side ends it. */
export function isStream({ responses }: ManifestOperation): boolean {
  return responses.some(({ streams }) => streams === true)
}

/** Builds an operation's request from its members. Throws `TypeError` when a path member is missing. */
export function requestOf(operation: ManifestOperation, input: CallInput): HttpRequest {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, member: string) => {
    const value = asText(input[member])
    if (value === '') throw new TypeError(`${operation.id} needs ${member}`)
    return encodeURIComponent(value)
  })
  const query = new URLSearchParams()
  for (const { name } of operation.query) {
    for (const value of asList(input[name])) query.append(name, asText(value))
  }
  const search = query.size > 0 ? `?${query.toString()}` : ''
  const body = input['body']
  if (body === undefined || !operation.body) return { method: operation.method, path: path + search, headers: {} }
  return {
    method: operation.method,
    path: path + search,
    headers: { 'content-type': JSON_MEDIA },
    body: JSON.stringify(body),
  }
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function asList(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

/**
 * Reads the answer to an operation. Throws `ProblemAnswer` for a refusal, `TransportFailure` for an answer that is not one
 * of that operation.
 */
export function answeredValue(
  operation: ManifestOperation,
  answer: HttpAnswer,
  { isParsedByCaller = false }: Pick<CallOptions, 'isParsedByCaller'> = {},
): unknown {
  if (answer.status >= 400) throw refusalOf(answer, operation.id)
  const response = operation.responses.find(({ status }) => status === answer.status)
  if (response === undefined) throw undeclaredStatus(operation, answer)
  if (response.media === null) return undefined
  if (response.media !== JSON_MEDIA) return bytesOf(response.media, answer)
  if (!isJson(answer)) throw foreignServer(answer)
  const value = parsedJson(answer)
  if (!isParsedByCaller) assertShape(value, operation, answer)
  return value
}

function bytesOf(media: string, answer: HttpAnswer): Uint8Array {
  const [essence = media] = media.split(';')
  if (!namesItself(answer) && answer.headers['content-type']?.startsWith(essence) !== true) throw foreignServer(answer)
  return new Uint8Array(answer.body)
}

function assertShape(value: unknown, { id, shapes }: ManifestOperation, answer: HttpAnswer): void {
  const shape = shapes?.[answer.status]
  const fault = shape && shapeFault(value, shape, { isKnownServer: namesItself(answer) })
  if (fault !== undefined) throw misshapenAnswer(id, fault)
}

/** Reads a body as JSON. Throws `TransportFailure` when it is none. */
export function parsedJson(answer: HttpAnswer): unknown {
  try {
    return JSON.parse(answer.body.toString('utf8'))
  } catch (error) {
    throw new TransportFailure('unreadable', 'its answer is not the JSON that it claims to be', error)
  }
}

/** Whether an answer says that it is JSON. */
export function isJson(answer: HttpAnswer): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/.test(answer.headers['content-type'] ?? '')
}

/** Reads a status of 400 or more: as a refusal where the answer can be one, else as the answer of another server. */
export function refusalOf(answer: HttpAnswer, operationId?: string): ProblemAnswer | TransportFailure {
  const document = documentOf(answer)
  return mayRefuse(answer, document) ? problemOf(answer, document, operationId) : foreignServer(answer)
}

/** A refusal. One that is no problem document, a proxy's page for instance, becomes the code `unexpected_answer`. */
function problemOf(
  answer: HttpAnswer,
  document: Readonly<Record<string, unknown>>,
  operationId: string | undefined,
): ProblemAnswer {
  const text = (member: string): string | undefined =>
    typeof document[member] === 'string' ? document[member] : undefined
  const status = answer.status
  const problem: ProblemDocument = {
    ...document,
    status,
    code: text('code') ?? 'unexpected_answer',
    title: text('title') ?? `HTTP ${status}`,
    detail: text('detail') ?? `The server answered ${status} without saying why.`,
    correlation_id: text('correlation_id') ?? answer.headers['x-correlation-id'],
  }
  return new ProblemAnswer(problem, retryAfterSeconds(answer, Date.now()), operationId)
}

function documentOf(answer: HttpAnswer): Readonly<Record<string, unknown>> {
  if (!isJson(answer)) return {}
  try {
    const value: unknown = JSON.parse(answer.body.toString('utf8'))
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {} // The status says enough.
  }
}

/** A UUID for pairing our lines with the server's: it needs to be rare, not unguessable, so `node:crypto` stays unloaded. */
function mintCorrelationId(clock: RetryClock): string {
  const hex = (digits: number): string =>
    Math.floor(clock.random() * 16 ** digits)
      .toString(16)
      .padStart(digits, '0')
  return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`
}
