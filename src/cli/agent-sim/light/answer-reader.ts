import { TransportFailure } from '../../../client/failures.ts'

/** The head of an answer. */
export interface AnswerHead {
  readonly status: number
  /** Status line and headers, as received. */
  readonly text: string
}

/** Receives the parts of answers, in order. */
export interface AnswerParts {
  head(head: AnswerHead): void
  /** A part of the body. The bytes are valid during the call only. */
  body(bytes: Buffer): void
  end(): void
}

type Phase = 'head' | 'sized' | 'size' | 'chunk' | 'chunk_end' | 'trailer' | 'unbounded'

const HEAD_BYTES_MAX = 64 * 1024
const LINE_BYTES_MAX = 1024
/** A line of a trailer, or the size of a chunk, ends with it; so does a chunk. */
const CRLF = '\r\n'
const HEAD_END = '\r\n\r\n'
const FIRST_FINAL_STATUS = 200

/**
 * Reads the answers of one connection (RFC 9112) and keeps none of their bytes. It is a class because a run has one for each of a
 * hundred thousand connections: an object with four members instead of a set of closures.
 */
export class AnswerReader {
  readonly #parts: AnswerParts
  #phase: Phase = 'head'
  #left = 0
  /** The beginning of what has not arrived whole. */
  #held: Buffer | undefined

  constructor(parts: AnswerParts) {
    this.#parts = parts
  }

  /** @throws TransportFailure for bytes that are not HTTP. */
  feed(chunk: Buffer): void {
    const bytes = this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = undefined
    let at = 0
    while (at < bytes.length) {
      const next = this.#step(bytes, at)
      if (next === undefined) {
        this.#held = Buffer.from(bytes.subarray(at))
        return
      }
      at = next
    }
  }

  /** The server has ended the connection. Returns whether that was between two answers, or ended the body of the last one. */
  close(): boolean {
    if (this.#phase === 'unbounded') this.#finish()
    return this.#phase === 'head' && this.#held === undefined
  }

  /** Reads one element. Returns the offset after it; undefined if it has not arrived whole. */
  #step(bytes: Buffer, at: number): number | undefined {
    if (this.#phase === 'head') return this.#readHead(bytes, at)
    if (this.#phase === 'size') return this.#readLine(bytes, at, (line) => this.#begin(sizeOf(line)))
    if (this.#phase === 'trailer') return this.#readLine(bytes, at, (line) => this.#endTrailer(line))
    if (this.#phase === 'chunk_end') return this.#readLine(bytes, at, () => (this.#phase = 'size'))
    return this.#readBody(bytes, at)
  }

  #readHead(bytes: Buffer, at: number): number | undefined {
    const end = bytes.indexOf(HEAD_END, at, 'latin1')
    if (end === -1) return waiting(bytes.length - at, HEAD_BYTES_MAX)
    const text = bytes.toString('latin1', at, end)
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? Number.NaN)
    if (Number.isNaN(status)) throw notHttp()
    // Informational answers precede the final one.
    if (status < FIRST_FINAL_STATUS) return end + HEAD_END.length
    this.#parts.head({ status, text })
    if (/^transfer-encoding: *chunked/im.test(text)) this.#phase = 'size'
    else this.#beginSized(status, /^content-length: *(\d+)/im.exec(text)?.[1])
    return end + HEAD_END.length
  }

  #beginSized(status: number, length: string | undefined): void {
    const isEmpty = status === 204 || status === 304
    if (length === undefined && !isEmpty) {
      this.#phase = 'unbounded'
      return
    }
    this.#left = isEmpty ? 0 : Number(length)
    this.#phase = 'sized'
    if (this.#left === 0) this.#finish()
  }

  #readLine(bytes: Buffer, at: number, take: (line: string) => void): number | undefined {
    const end = bytes.indexOf(CRLF, at, 'latin1')
    if (end === -1) return waiting(bytes.length - at, LINE_BYTES_MAX)
    take(bytes.toString('latin1', at, end))
    return end + CRLF.length
  }

  #begin(size: number): void {
    this.#left = size
    this.#phase = size === 0 ? 'trailer' : 'chunk'
  }

  #endTrailer(line: string): void {
    if (line === '') this.#finish()
  }

  #readBody(bytes: Buffer, at: number): number {
    const end = this.#phase === 'unbounded' ? bytes.length : Math.min(bytes.length, at + this.#left)
    this.#left -= end - at
    this.#parts.body(bytes.subarray(at, end))
    if (this.#left === 0 && this.#phase === 'chunk') this.#phase = 'chunk_end'
    if (this.#left === 0 && this.#phase === 'sized') this.#finish()
    return end
  }

  #finish(): void {
    this.#phase = 'head'
    this.#parts.end()
  }
}

function sizeOf(line: string): number {
  const size = /^[0-9a-f]{1,8}/i.exec(line)?.[0]
  if (size === undefined) throw notHttp()
  return Number.parseInt(size, 16)
}

function waiting(bytes: number, max: number): undefined {
  if (bytes > max) throw notHttp()
}

function notHttp(): TransportFailure {
  return new TransportFailure('unreadable', 'it does not speak HTTP')
}

/** The headers of a head: lower-case names, repeated ones joined with `, `. */
export function headersOf({ text }: AnswerHead): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of text.split(CRLF).slice(1)) {
    const colon = line.indexOf(':')
    const [name, value] = [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    const before = headers[name]
    headers[name] = before === undefined ? value : `${before}, ${value}`
  }
  return headers
}
