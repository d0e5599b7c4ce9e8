import { Duplex } from 'node:stream'

/** Hands one batch of protocol messages to the engine. */
type Send = (bytes: Uint8Array) => void

/** The socket of `pg`: PostgreSQL's wire protocol over messages to a worker thread instead of a network. */
export class WireStream extends Duplex {
  readonly #send: Send

  constructor(send: Send) {
    super()
    this.#send = send
  }

  /** Takes the engine's answer. */
  receive(bytes: Uint8Array): void {
    this.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#send(chunk)
    done()
  }

  /** One message to the thread for all that the driver corked together: parse, bind, describe, execute, sync. */
  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)))
    done()
  }

  override _read(): void {
    // Answers are pushed when they come; each is bounded by the statement that asked.
  }

  connect(): this {
    process.nextTick(() => this.emit('connect'))
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}
