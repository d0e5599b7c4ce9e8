import type { Logger } from 'pino'
import type { Reauthorization } from '../../http/request-context.ts'
import { ReaderStream } from '../../http/streams/reader-stream.ts'
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

/**
 * One reader's stream of a Domain. It keeps nothing but its position: what it has not been sent is read from the outbox again. It
 * is live while its position is that of the tail, and is sent frames; otherwise it is behind, and a replay brings it up.
 */
export class DomainStream extends ReaderStream {
  readonly domainId: string
  readonly subject: string
  seq: bigint
  isLive = false
  isLost: boolean
  readonly #shared: StreamShared

  constructor(shared: StreamShared, { domainId, subject, reauthorization, seq, isLost }: StreamRequest) {
    super({ log: shared.log, reauthorization })
    this.#shared = shared
    this.domainId = domainId
    this.subject = subject
    this.seq = seq
    this.isLost = isLost
  }

  protected logged() {
    return { domain_id: this.domainId }
  }

  protected begin(): void {
    this.#shared.onBehind(this)
  }

  protected over(reason: EndReason): void {
    this.isLive = false
    this.#shared.onEnd(this, reason)
  }

  /** Sends a frame, unless it was sent. */
  send({ seq, bytes }: DomainFrame): void {
    if (this.isOver || (seq <= this.seq && !this.isLost)) return
    this.seq = seq
    this.isLost = false
    if (this.write(bytes)) this.#shared.onFrame(this.domainId)
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
}
