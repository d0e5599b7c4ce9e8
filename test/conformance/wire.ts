import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import type { Operation } from '../../src/shared/contract/operation.ts'

/** An answer as it came over the socket. */
export interface WireAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
  /** Members of the JSON document; undefined when the answer is none. */
  readonly json: Readonly<Record<string, unknown>> | undefined
}

/** A request byte by byte: nothing is added but what HTTP itself needs. */
export interface WireRequest {
  readonly method: string
  /** With its query, as it goes over the wire. */
  readonly path: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Uint8Array
  /** Sends the body without announcing its length. */
  readonly chunked?: boolean
}

/** Gets a request to a server and its answer back. */
export type Exchange = (url: string, wire: WireRequest) => Promise<WireAnswer>

const DEADLINE_MS = 10_000
const agent = new Agent({ keepAlive: true, maxSockets: 8 })

/** Sends one request over a real socket. Rejects when no answer comes within 10 s. Of a stream the first chunk is read, and then it is closed. */
export async function exchange(url: string, wire: WireRequest): Promise<WireAnswer> {
  const { body, headers = {}, method, path } = wire
  const length = body === undefined || wire.chunked === true ? {} : { 'content-length': Buffer.byteLength(body) }
  const request = httpRequest(url, {
    method,
    path,
    agent,
    headers: { ...length, ...headers },
    signal: AbortSignal.timeout(DEADLINE_MS),
  })
  const answered = once(request, 'response') as Promise<[IncomingMessage]>
  // An early refusal may close the connection under a body that is still being sent.
  answered.then(() => request.on('error', () => undefined)).catch(() => undefined)
  if (body !== undefined) request.write(body)
  request.end()
  const [response] = await answered
  const goesOn = response.headers['content-type'] === 'text/event-stream'
  const chunks: Buffer[] = []
  for await (const chunk of response) {
    chunks.push(chunk as Buffer)
    if (goesOn) break
  }
  return answerOf(response, Buffer.concat(chunks).toString('utf8'))
}

function answerOf({ statusCode = 0, headers }: IncomingMessage, text: string): WireAnswer {
  const isJson = /^application\/(problem\+)?json\b/.test(headers['content-type'] ?? '')
  return { status: statusCode, headers, text, json: isJson && text !== '' ? JSON.parse(text) : undefined }
}

/** Lays the members of a call out as the operation has them. */
export function layOut(operation: Operation, input: Readonly<Record<string, unknown>>): WireRequest {
  const holes = new Set([...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(plain(input[name])))
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input)) {
    if (name !== 'body' && !holes.has(name) && value !== undefined) query.append(name, plain(value))
  }
  const search = query.size === 0 ? '' : `?${query.toString()}`
  const bare = { method: operation.method, path: `${path}${search}` }
  if (input['body'] === undefined) return bare
  return { ...bare, headers: { 'content-type': 'application/json' }, body: JSON.stringify(input['body']) }
}

/** Path and query members are texts, numbers or switches. */
function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The same request with a credential (a text that begins as a session's cookie does goes as one) and a correlation id. */
export function signed(wire: WireRequest, credential: string | undefined, correlationId?: string): WireRequest {
  return {
    ...wire,
    headers: {
      ...wire.headers,
      ...(credential !== undefined && fieldOf(credential)),
      ...(correlationId !== undefined && { 'x-correlation-id': correlationId }),
    },
  }
}

/** A browser sends its cookies; a page of ours echoes the anti-forgery token that it finds among them. */
function fieldOf(credential: string): OutgoingHttpHeaders {
  if (!credential.startsWith('service_session=')) return { authorization: `Bearer ${credential}` }
  const token = /; service_csrf=(.*)$/.exec(credential)?.[1]
  return { cookie: credential, ...(token !== undefined && { 'x-csrf-token': token }) }
}
