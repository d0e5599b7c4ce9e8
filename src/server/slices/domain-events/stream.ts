import type { Logger } from 'pino'
import type { StreamAnswer, StreamEnd, StreamSink } from '../../../shared/contract/operation.ts'
import type { Reauthorization } from '../../http/request-context.ts'
import { KEEP_ALIVE, retryFrame } from '../../http/streams/frames.ts'
import type { KeptAlive } from '../../http/streams/keepalive-scheduler.ts'
import { ReaderCheck } from '../../http/streams/reader-check.ts'
import type { EndReason } from '../../http/streams/stream-meter.ts'
import type { DomainFrame } from './frames.ts'

/** What all streams share. */
export interface StreamShared {
  readonly log: Logger
  onFrame(domainId: string): void
  onEnd(stream: DomainStream, reason: EndReason): void
  /** Called when a stream can be written to and is behind. */
  onBehind(stream: DomainStream): void
}

export interface StreamRequest {
  readonly domainId: string
  /** Who reads: `user:<id>` or `serviceaccount:<id>`. */
  readonly subject: string
  readonly reauthorization: Reauthorization
  /** The position after which it goes on. */
  readonly seq: bigint
  /** Whether the reader named a position that cannot be resumed from. */
  readonly isLost: boolean
}

/** Unsent bytes above which a replay waits. */
const REPLAY_UNSENT_MAX = 256 * 1024
/** How long a replay waits for its reader. */
const STALLED_MS = 50_000

/**
 * One reader's stream of a Domain. It keeps nothing but its position: what it has not been sent is read from the outbox again. It
 * is live while its position is that of the tail, and is sent frames; otherwise it is behind, and a replay brings it up.
 */
export class DomainStream implements StreamAnswer, KeptAlive {
  readonly domainId: string
  readonly subject: string
  seq: bigint
  isLive = false
  isLost: boolean
  isOver = false
  #sink: StreamSink | undefined
  #waitingSinceMs: number | undefined
  #reason: EndReason | undefined
  readonly #shared: StreamShared
  readonly #check: ReaderCheck

  constructor(shared: StreamShared, { domainId, subject, reauthorization, seq, isLost }: StreamRequest) {
    this.#shared = shared
    this.domainId = domainId
    this.subject = subject
    this.seq = seq
    this.isLost = isLost
    this.#check = new ReaderCheck(reauthorization, (reason, error) => this.#lost(reason, error))
  }

  start(sink: StreamSink): void {
    this.#sink = sink
    // A proxy that waits for a first byte before it passes the head on has it now.
    sink.write(KEEP_ALIVE)
    this.#shared.onBehind(this)
  }

  farewell(): Uint8Array {
    return retryFrame()
  }

  ended(how: StreamEnd): void {
    this.isOver = true
    this.isLive = false
    this.#shared.onEnd(this, how === 'operation' ? (this.#reason ?? 'failed') : how)
  }

  /** Sends a frame, unless it was sent. */
  send({ seq, bytes }: DomainFrame): void {
    if (this.isOver || (seq <= this.seq && !this.isLost)) return
    this.seq = seq
    this.isLost = false
    if (this.#sink?.write(bytes) === true) this.#shared.onFrame(this.domainId)
  }

  /** Everything up to there was sent. */
  passed(seq: bigint): void {
    if (seq > this.seq) this.seq = seq
  }

  /** It has to be replayed from its position on. */
  fallBehind(): void {
    this.isLive = false
    this.#shared.onBehind(this)
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

  #lost(reason: 'refused' | 'unconfirmed', error: unknown): void {
    if (reason === 'refused') {
      this.#shared.log.info(
        { domain_id: this.domainId, cause: String(error) },
        'a stream was closed: its reader is no longer authorized',
      )
    }
    this.end(reason)
  }
}
