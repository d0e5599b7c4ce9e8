import type { Manifest, ManifestOperation } from '../shared/contract/manifest-format.ts'
import type { Operations } from '../shared/contract/operation.ts'
import type { Received, Sending } from '../shared/contract/operation-types.ts'
import { shapeFault } from './answer-shape.ts'
import { ProblemAnswer, TransportFailure, type ProblemDocument } from './failures.ts'
import { foreignServer, mayRefuse, misshapenAnswer, namesItself, undeclaredStatus } from './foreign-server.ts'
import { retryAfterSeconds, systemRetryClock, withRetries, type RetryClock } from './retry.ts'
import type { HttpAnswer, HttpRequest, OpenAnswer, Transport } from './transport.ts'

export interface CallOptions {
  /** Sent instead of the client's own credential; null sends none. */
  readonly token?: string | null | undefined
  /** Deadline for the call with its retries, in ms. Default: that of the client. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Sent as `X-Correlation-Id`; generated when absent. */
  readonly correlationId?: string | undefined
  /** The caller validates the answer, so the client only checks that it is JSON. */
  readonly isParsedByCaller?: boolean | undefined
  /** Additional request headers, lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Called before each pause between tries, with the answer that is not final; undefined if there was none. */
  readonly beforeRetry?: ((answer: HttpAnswer | undefined, pauseMs: number) => void) | undefined
}

/** The input of an operation: path and query members by name, and the body as `body`. */
export type CallInput = Readonly<Record<string, unknown>>

/** A decoded answer: JSON, bytes of another media type, or undefined for an empty one. */
export interface Reply<T = unknown> {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly value: T
}

/** One try, as sent. `answer` is undefined if there was none. Contains secrets: redact before showing. */
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
  /** Called for each request; returns the credential, or undefined to send none. */
  readonly token?: (() => string | undefined | Promise<string | undefined>) | undefined
  /** Deadline for a call with its retries, in ms; 30,000 when absent. */
  readonly timeoutMs?: number | undefined
  /** Maximum tries of a repeatable call; 5 when absent. */
  readonly triesMax?: number | undefined
  /** Cancels every call when aborted. */
  readonly signal?: AbortSignal | undefined
  /** Called after every try. */
  readonly observe?: ((attempt: Attempt) => void) | undefined
  readonly userAgent?: string | undefined
  readonly clock?: RetryClock | undefined
}

/** Calls operations by their manifest entry, without types. */
export interface Caller {
  /**
   * Calls an operation. Compares the answer with the operation's declaration, so that it rejects answers of other servers.
   *
   * @throws ProblemAnswer for a refusal.
   * @throws TransportFailure if there is no usable answer.
   */
  call(operation: ManifestOperation, input: CallInput, options?: CallOptions): Promise<Reply>
  /** Adds the headers that `send` would add, including the credential. Sends nothing. */
  prepare(request: HttpRequest, options?: CallOptions): Promise<HttpRequest>
  /** Sends a request with credential, correlation id and retries. Resolves with an answer of any status. */
  send(request: HttpRequest, options: SendOptions): Promise<HttpAnswer>
  /** Sends a request once and resolves when the head of the answer arrives. The timeout applies to the head. */
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

/** One method per operation of the surfaces `C`, named after it. Streaming operations have none: see `followStream`. */
export type Client<C> = {
  readonly [
    Id in keyof Intersected<OperationsOf<C>> as Intersected<OperationsOf<C>>[Id] extends Streaming ? never : Id
  ]: (
    ...args: Arguments<Sending<Intersected<OperationsOf<C>>[Id]>>
  ) => Promise<Received<Intersected<OperationsOf<C>>[Id]>>
}

type Surfaces = { readonly [surface: string]: { readonly operations: Operations } }

const JSON_MEDIA = 'application/json'
/** The body that observers see for an open answer. */
const UNREAD_BODY = Buffer.alloc(0)

/** Makes the untyped caller of a manifest's operations. */
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
        answer: answer && { ...answer, body: Buffer.isBuffer(answer.body) ? answer.body : UNREAD_BODY },
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
      'x-correlation-id': options.correlationId ?? newCorrelationId(clock),
      ...(deps.userAgent !== undefined && { 'user-agent': deps.userAgent }),
      ...(token !== undefined && token !== null && { authorization: `Bearer ${token}` }),
      ...request.headers,
      ...options.headers,
    }
  }

  async function send(request: HttpRequest, options: SendOptions): Promise<HttpAnswer> {
    const headers = await headersOf(request, options)
    const signal = options.signal ?? deps.signal
    const { repeatable, beforeRetry } = options
    return withRetries(
      (remainingMs) =>
        observed({ ...request, headers, timeoutMs: remainingMs, signal }, options.operation, (one) =>
          transport.exchange(one),
        ),
      { repeatable, triesMax, timeoutMs: options.timeoutMs ?? timeoutMs, signal, beforeRetry },
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

/** Makes the client of the surfaces `C`. Its types come from the contract, its behaviour from the manifest. */
export function createClient<C extends Surfaces>(deps: ClientDeps): Client<C> {
  return createClientOver<C>(createCaller(deps), deps.manifest)
}

/** Makes the client of the surfaces `C` on top of an existing caller. */
export function createClientOver<C extends Surfaces>(caller: Caller, manifest: Manifest): Client<C> {
  const called = Object.keys(manifest.index).filter((id) => manifest.index[id]?.streams !== true)
  const methods = called.map((id) => [
    id,
    async (input: CallInput = {}, options?: CallOptions) =>
      (await caller.call(operationOf(manifest, id), input, options)).value,
  ])
  // The manifest is generated from the contract whose type is `C`.
  const client: Client<C> = Object.fromEntries(methods)
  return client
}

/** The entry of an operation. @throws Error if the contract lacks it: a programming error. */
export function operationOf({ operations }: Manifest, id: string): ManifestOperation {
  const operation = operations[id]
  if (operation === undefined) throw new Error(`the contract has no ${id}`)
  return operation
}

/** Whether the operation answers with a stream. */
export function isStream({ responses }: ManifestOperation): boolean {
  return responses.some(({ streams }) => streams === true)
}

/** Builds an operation's request from its input. @throws TypeError if a path member is missing. */
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
 * Reads the answer of an operation.
 *
 * @throws ProblemAnswer for a refusal.
 * @throws TransportFailure for an answer that the operation does not declare.
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

/** Parses a body as JSON. @throws TransportFailure if it is not JSON. */
export function parsedJson(answer: HttpAnswer): unknown {
  try {
    return JSON.parse(answer.body.toString('utf8'))
  } catch (error) {
    throw new TransportFailure('unreadable', 'its answer is not the JSON that it claims to be', error)
  }
}

/** Whether the `Content-Type` is JSON. */
export function isJson(answer: HttpAnswer): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/.test(answer.headers['content-type'] ?? '')
}

/** Reads an error answer: a refusal if it can come from this API, else the failure for an answer of another server. */
export function refusalOf(answer: HttpAnswer, operationId?: string): ProblemAnswer | TransportFailure {
  const document = documentOf(answer)
  return mayRefuse(answer, document) ? problemOf(answer, document, operationId) : foreignServer(answer)
}

/**
 * Makes the refusal. An answer without a problem document, such as a proxy's error page, gets the code
 * `unexpected_answer`.
 */
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
    return {} // Not JSON: the status is enough.
  }
}

/** A UUID that connects log lines of client and server. It need not be unguessable, so `node:crypto` is not loaded. */
function newCorrelationId(clock: RetryClock): string {
  const hex = (digits: number): string =>
    Math.floor(clock.random() * 16 ** digits)
      .toString(16)
      .padStart(digits, '0')
  return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`
}
