import type { Logger } from 'pino'
import { frameOf } from '../../http/streams/frames.ts'
import { ReaderStream } from '../../http/streams/reader-stream.ts'
import type { EndReason } from '../../http/streams/stream-meter.ts'
import type { Reauthorization } from '../../http/request-context.ts'
import type { BusEvent } from '../../ports/event-bus.ts'
import { catchUp, type Beginning, type Behind, type CatchUpDeps } from './stream-catch-up.ts'
import type { StreamedNode } from './resync.ts'

/** What all streams of a hub share. */
export interface StreamShared {
  readonly catchUpDeps: CatchUpDeps
  readonly log: Logger
  onFrame(domainId: string): void
  onEnd(stream: NodeStream, reason: EndReason): void
}

export interface StreamRequest {
  readonly node: StreamedNode
  /** Whether it is the node's own, and no operator's. */
  readonly isOwn: boolean
  readonly reauthorization: Reauthorization
  /** The position to go on from; for a stream that starts with the next event, the hub's position. */
  readonly seq: bigint
  /** Whether the reader has named it. */
  readonly isClaimed: boolean
}

/** Events that are buffered for a stream that is behind; beyond that the stream resynchronizes. */
const KEPT_MAX = 256
const KEPT_CHARACTERS_MAX = 256 * 1024

/** The buffer of a stream that is behind. */
interface Kept {
  readonly events: BusEvent[]
  characters: number
  hasOverflowed: boolean
}

/**
 * One reader's stream. While live, an event costs one comparison and one write; while behind, it buffers events until it
 * has caught up.
 */
export class NodeStream extends ReaderStream implements Behind {
  readonly node: StreamedNode
  readonly isOwn: boolean
  isClaimed: boolean
  seq: bigint
  nodeSeq: bigint | undefined
  /** Undefined while it is live. */
  #kept: Kept | undefined
  #beginning: Beginning | undefined
  readonly #shared: StreamShared

  constructor(shared: StreamShared, { node, isOwn, reauthorization, seq, isClaimed }: StreamRequest) {
    super({ log: shared.log, reauthorization })
    this.#shared = shared
    this.node = node
    this.isOwn = isOwn
    this.seq = seq
    this.isClaimed = isClaimed
    // Until its head is sent it cannot be written to.
    this.#kept = { events: [], characters: 0, hasOverflowed: false }
  }

  get isLive(): boolean {
    return this.#kept === undefined
  }

  /** The beginning computed before the head was sent; if absent, the stream begins with the next event. */
  beginWith(beginning: Beginning): void {
    this.#beginning = beginning
  }

  protected logged() {
    return { node_id: this.node.nodeId }
  }

  protected begin(): void {
    if (this.isClaimed || !this.goLive()) this.#catchUp()
  }

  protected over(reason: EndReason): void {
    this.#kept = undefined
    this.#shared.onEnd(this, reason)
  }

  /** Takes an event while live; the frame is the same for every stream of the node. */
  deliver(event: BusEvent, frame: Buffer): void {
    const last = this.nodeSeq
    if (last !== undefined && event.nodeSeq !== last + 1n) {
      // A late duplicate from a former leader.
      if (event.nodeSeq <= last) return
      return this.#fallBehind(event)
    }
    this.seq = event.seq
    this.nodeSeq = event.nodeSeq
    this.#write(frame)
  }

  /** Takes an event while behind. */
  keep(event: BusEvent): void {
    const kept = this.#kept
    if (kept === undefined || kept.hasOverflowed) return
    kept.events.push(event)
    kept.characters += event.wire.length
    if (kept.events.length <= KEPT_MAX && kept.characters <= KEPT_CHARACTERS_MAX) return
    kept.hasOverflowed = true
    kept.events.length = 0
  }

  /** Events may have been missed after that position, up to which all live streams have been served. */
  missed(since: bigint): void {
    if (this.#kept !== undefined) {
      this.#kept.hasOverflowed = true
      this.#kept.events.length = 0
      return
    }
    this.seq = since
    this.#fallBehind()
  }

  send(event: BusEvent): void {
    this.seq = event.seq
    this.nodeSeq = event.nodeSeq
    this.#write(frameOf(event))
  }

  located(nodeSeq: bigint | undefined): void {
    if (this.nodeSeq === undefined) this.nodeSeq = nodeSeq
  }

  goLive(): boolean {
    const kept = this.#kept
    if (kept === undefined) return true
    this.#kept = { events: [], characters: 0, hasOverflowed: false }
    if (kept.hasOverflowed) return false
    for (const event of kept.events) {
      if (this.nodeSeq !== undefined && event.nodeSeq > this.nodeSeq + 1n) return false
      if (this.nodeSeq === undefined || event.nodeSeq > this.nodeSeq) this.send(event)
    }
    this.#kept = undefined
    this.isClaimed = false
    return true
  }

  #write(frame: Buffer): void {
    if (this.write(frame)) this.#shared.onFrame(this.node.domainId)
  }

  #fallBehind(event?: BusEvent): void {
    this.#kept = { events: event === undefined ? [] : [event], characters: 0, hasOverflowed: false }
    this.#catchUp()
  }

  #catchUp(): void {
    const beginning = this.#beginning
    this.#beginning = undefined
    catchUp(this.#shared.catchUpDeps, this, beginning).catch((error: unknown) => this.failed(error))
  }
}
