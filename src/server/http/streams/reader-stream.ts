import type { Logger } from 'pino'
import type { StreamAnswer, StreamEnd, StreamSink } from '../../../shared/contract/operation.ts'
import type { Reauthorization } from '../request-context.ts'
import { KEEP_ALIVE, retryFrame } from './frames.ts'
import type { KeptAlive } from './keepalive-scheduler.ts'
import { ReaderCheck } from './reader-check.ts'
import type { EndReason } from './stream-meter.ts'

/** Unsent bytes above which a replay waits. */
const REPLAY_UNSENT_MAX = 256 * 1024
/** How long a replay waits for its reader. */
const STALLED_MS = 50_000

export interface ReaderStreamOptions {
  readonly log: Logger
  readonly reauthorization: Reauthorization
}

/**
 * What the event streams of nodes and of Domains share: writing to one reader, keep-alives, the check that the reader is still
 * authorized, and the end. What is written, and from where on, is the subclass's. A class to save memory: there are thousands.
 */
export abstract class ReaderStream implements StreamAnswer, KeptAlive {
  isOver = false
  #sink: StreamSink | undefined
  #waitingSinceMs: number | undefined
  #reason: EndReason | undefined
  readonly #log: Logger
  readonly #check: ReaderCheck

  constructor({ log, reauthorization }: ReaderStreamOptions) {
    this.#log = log
    this.#check = new ReaderCheck(reauthorization, (reason, error) => this.#lost(reason, error))
  }

  /** The members of log records that say whose stream it is. */
  protected abstract logged(): Readonly<Record<string, string>>
  /** Called once the stream can be written to. */
  protected abstract begin(): void
  /** Called when nothing can be written to the stream any more. */
  protected abstract over(reason: EndReason): void

  start(sink: StreamSink): void {
    this.#sink = sink
    // A proxy that waits for a first byte before it passes the head on has it now.
    sink.write(KEEP_ALIVE)
    this.begin()
  }

  farewell(): Uint8Array {
    return retryFrame()
  }

  ended(how: StreamEnd): void {
    this.isOver = true
    this.over(how === 'operation' ? (this.#reason ?? 'failed') : how)
  }

  /** False where it could not be written. */
  protected write(frame: Uint8Array): boolean {
    return this.#sink?.write(frame) === true
  }

  /** Resolves once the reader has read most of what it was sent, or has disconnected. */
  async room(): Promise<void> {
    const sink = this.#sink
    if (sink === undefined || sink.unsent() < REPLAY_UNSENT_MAX) return
    this.#waitingSinceMs = performance.now()
    await sink.drained()
    this.#waitingSinceMs = undefined
  }

  keepAlive(): void {
    const sink = this.#sink
    if (sink === undefined || this.isOver) return
    const nowMs = performance.now()
    if (this.#waitingSinceMs !== undefined && nowMs - this.#waitingSinceMs > STALLED_MS) return this.end('slow')
    this.#check.confirm(nowMs)
    if (!this.isOver) sink.write(KEEP_ALIVE)
  }

  /** Ends the answer. */
  end(reason: EndReason): void {
    if (this.isOver) return
    this.#reason = reason
    this.#sink?.end()
  }

  /** A stream that cannot go on because its events cannot be read or signed. */
  failed(error: unknown): void {
    this.#log.error({ err: error, ...this.logged() }, 'a stream could not catch up')
    this.end('failed')
  }

  #lost(reason: 'refused' | 'unconfirmed', error: unknown): void {
    if (reason === 'refused') {
      const cause = String(error)
      this.#log.info({ ...this.logged(), cause }, 'a stream was closed: its reader is no longer authorized')
    }
    this.end(reason)
  }
}
