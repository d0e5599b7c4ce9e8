import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { StreamAnswer, StreamEnd, StreamSink } from '../../shared/contract/operation.ts'

/** The open streams. */
export interface OpenStreams {
  /** Sends the head, and gives the stream its sink. */
  open(head: StreamHead, stream: StreamAnswer): void
  /** Sends every reader the last event and ends its stream cleanly. */
  drain(): void
}

/** The answer whose body is the stream. */
export interface StreamHead {
  readonly response: ServerResponse
  readonly socket: Socket
  readonly status: number
  readonly headers: OutgoingHttpHeaders
}

/** Unsent bytes of a slow reader beyond which the next write closes its stream (decisions: Stream). */
const UNSENT_BYTES_MAX = 1024 * 1024
/** Idle time after which TCP keep-alive probes start. */
const PROBE_AFTER_MS = 30_000
/** How long the last bytes of a stream may take. */
const LAST_BYTES_MS = 5_000

/**
 * Headers of every stream. It is the last answer on its connection: what a client sends behind it would wait for hours.
 * nginx does not buffer an answer with `X-Accel-Buffering: no`.
 */
const STREAM_HEADERS = { 'cache-control': 'no-cache', 'x-accel-buffering': 'no', connection: 'close' } as const

/** Keeps the streams that are open. */
export function createOpenStreams(): OpenStreams {
  const open = new Set<OpenStream>()

  return {
    open({ response, socket, status, headers }, stream) {
      response.writeHead(status, { ...headers, ...STREAM_HEADERS })
      response.flushHeaders()
      socket.setKeepAlive(true, PROBE_AFTER_MS)
      const one = new OpenStream({ response, socket, stream, open })
      if (socket.destroyed) return one.over('reader')
      open.add(one)
      socket.on('close', () => one.over('reader'))
      // A request that was sent behind another one has to wait for the connection.
      if (response.socket === null) response.once('socket', () => process.nextTick(() => one.start()))
      else one.start()
    },
    drain() {
      for (const one of open) one.drain()
    },
  }
}

interface StreamParts {
  readonly response: ServerResponse
  readonly socket: Socket
  readonly stream: StreamAnswer
  readonly open: Set<OpenStream>
}

/** One stream. A class to save memory: there are thousands, and a closure for every method adds up. */
class OpenStream implements StreamSink {
  readonly #parts: StreamParts
  /** HTTP/1.0 has no chunks: there the end of the connection is the end of the answer. */
  readonly #isChunked: boolean
  #isOver = false

  constructor(parts: StreamParts) {
    this.#parts = parts
    this.#isChunked = parts.response.chunkedEncoding
  }

  start(): void {
    if (!this.#isOver) this.#parts.stream.start(this)
  }

  /** Straight to the socket: the framework of HTTP would make three writes of it, and a turn of the event loop. */
  write(bytes: Uint8Array): boolean {
    if (this.#isOver) return false
    const { socket } = this.#parts
    // The reader has closed its side: Node has closed the server's side in answer.
    if (socket.writableEnded) {
      this.over('reader')
      socket.destroy()
      return false
    }
    if (socket.writableLength > UNSENT_BYTES_MAX) {
      this.over('slow')
      socket.destroy()
      return false
    }
    socket.write(this.#isChunked ? chunkOf(bytes) : bytes)
    return true
  }

  unsent(): number {
    return this.#parts.socket.writableLength
  }

  async drained(): Promise<void> {
    const { socket } = this.#parts
    if (this.#isOver || !socket.writableNeedDrain) return
    await new Promise<void>((resolve) => {
      const done = (): void => {
        socket.off('drain', done)
        socket.off('close', done)
        resolve()
      }
      socket.on('drain', done)
      socket.on('close', done)
    })
  }

  end(): void {
    this.#endAs('operation')
  }

  drain(): void {
    if (this.#parts.response.socket !== null) this.write(this.#parts.stream.farewell())
    this.#endAs('drain')
  }

  over(how: StreamEnd): void {
    if (this.#isOver) return
    this.#isOver = true
    const { open, stream } = this.#parts
    open.delete(this)
    stream.ended(how)
  }

  #endAs(how: StreamEnd): void {
    if (this.#isOver) return
    const { response, socket } = this.#parts
    if (response.socket === null) response.end()
    else {
      // By hand: once Node's answer is over its connection is idle, and a stop would close it before TLS has sent the end.
      if (this.#isChunked) socket.write(LAST_CHUNK)
      socket.end()
    }
    socket.setTimeout(LAST_BYTES_MS)
    this.over(how)
  }
}

const CRLF = '\r\n'
const LAST_CHUNK = `0${CRLF}${CRLF}`

/** RFC 9112 §7.1. */
function chunkOf(bytes: Uint8Array): Buffer {
  const size = bytes.length.toString(16)
  const chunk = Buffer.allocUnsafe(size.length + bytes.length + 2 * CRLF.length)
  chunk.write(size + CRLF, 0, 'latin1')
  chunk.set(bytes, size.length + CRLF.length)
  chunk.write(CRLF, size.length + CRLF.length + bytes.length, 'latin1')
  return chunk
}
