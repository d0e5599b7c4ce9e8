import type { Socket } from 'node:net'
import { TransportFailure } from '../../../client/failures.ts'
import { asFailure, type HttpAnswer } from '../../../client/transport.ts'
import { AnswerReader, headersOf, type AnswerHead, type AnswerParts } from './answer-reader.ts'

/** A request that waits for its answer. */
export interface WaitingCall {
  readonly text: string
  /** The body of an answer with status 200 is read and dropped; `bytes` is its length. */
  readonly isDrained: boolean
  readonly timeoutMs: number | undefined
  readonly resolve: (answer: DrainedAnswer) => void
  readonly reject: (error: TransportFailure) => void
}

/** An answer, and the length of its body. The body of a drained one is empty. */
export interface DrainedAnswer extends HttpAnswer {
  readonly bytes: number
}

/** Called when the connection has no call: it is free, or closed. */
export type Freed = (connection: CallConnection, isOpen: boolean) => void

const NO_BYTES = Buffer.alloc(0)
/** Maximum size of an answer that is kept. */
const KEPT_BYTES_MAX = 64 * 1024 * 1024
const OK = 200

/** A connection that carries one call at a time. A class as `AnswerReader` is. */
export class CallConnection implements AnswerParts {
  readonly #socket: Socket
  readonly #reader = new AnswerReader(this)
  readonly #freed: Freed
  #call: WaitingCall | undefined
  #timer: NodeJS.Timeout | undefined
  #head: AnswerHead | undefined
  #chunks: Buffer[] | undefined
  #bytes = 0
  #isClosed = false

  constructor(socket: Socket, freed: Freed) {
    this.#socket = socket
    this.#freed = freed
    socket.on('data', (chunk) => this.#take(chunk))
    socket.on('error', (error) => this.#fail(asFailure(error)))
    socket.on('end', () => void this.#reader.close())
    socket.on('close', () => this.#fail(new TransportFailure('broken', 'the server closed the connection')))
  }

  /** Sends a call. The connection must be free. */
  send(call: WaitingCall): void {
    this.#call = call
    this.#bytes = 0
    if (call.timeoutMs !== undefined) this.#timer = setTimeout(() => this.#expire(), call.timeoutMs)
    this.#socket.write(call.text)
  }

  close(): void {
    this.#socket.destroy()
  }

  head(head: AnswerHead): void {
    this.#head = head
  }

  body(bytes: Buffer): void {
    this.#bytes += bytes.length
    if (this.#call?.isDrained === true && this.#head?.status === OK) return
    if (this.#bytes > KEPT_BYTES_MAX) throw new TransportFailure('too_large', 'the answer is over 64 MiB')
    const chunks = (this.#chunks ??= [])
    chunks.push(Buffer.from(bytes))
  }

  end(): void {
    const [call, head, chunks, bytes] = [this.#call, this.#head, this.#chunks, this.#bytes]
    this.#clear()
    if (call === undefined || head === undefined) {
      this.#socket.destroy()
      return
    }
    const headers = headersOf(head)
    const body = chunks === undefined ? NO_BYTES : chunks.length === 1 ? (chunks[0] ?? NO_BYTES) : Buffer.concat(chunks)
    const isLast = headers['connection']?.toLowerCase() === 'close'
    if (isLast) this.#end()
    else this.#freed(this, true)
    call.resolve({ status: head.status, headers, body, bytes })
  }

  #clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#call = undefined
    this.#head = undefined
    this.#chunks = undefined
  }

  #take(chunk: Buffer): void {
    try {
      this.#reader.feed(chunk)
    } catch (error) {
      this.#fail(asFailure(error))
    }
  }

  #expire(): void {
    this.#fail(new TransportFailure('timeout', `no answer within ${Math.round(this.#call?.timeoutMs ?? 0)} ms`))
  }

  #fail(failure: TransportFailure): void {
    const call = this.#call
    this.#clear()
    this.#end()
    call?.reject(failure)
  }

  #end(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket.destroy()
    this.#freed(this, false)
  }
}
