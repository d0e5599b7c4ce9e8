import type { Logger } from 'pino'
import type { StreamAnswer, StreamEnd, StreamSink } from '../../../shared/contract/operation.ts'
import type { Reauthorization } from '../../http/request-context.ts'
import type { BusEvent } from '../../ports/event-bus.ts'
import { frameOf, KEEP_ALIVE, retryFrame } from '../../http/streams/frames.ts'
import type { KeptAlive } from '../../http/streams/keepalive-scheduler.ts'
import { ReaderCheck } from '../../http/streams/reader-check.ts'
import type { EndReason } from '../../http/streams/stream-meter.ts'
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
/** Unsent bytes above which a replay waits. */
const REPLAY_UNSENT_MAX = 256 * 1024
/** How long a replay waits for its reader. */
const STALLED_MS = 50_000

/** The buffer of a stream that is behind. */
interface Kept {
  readonly events: BusEvent[]
  characters: number
  hasOverflowed: boolean
}

/**
 * One reader's stream. While live, an event costs one comparison and one write; while behind, it buffers events until it
 * has caught up. A class to save memory: there are thousands.
 */
export class NodeStream implements StreamAnswer, Behind, KeptAlive {
  readonly node: StreamedNode
  readonly isOwn: boolean
  isClaimed: boolean
  seq: bigint
  nodeSeq: bigint | undefined
  isOver = false
  /** Undefined while it is live. */
  #kept: Kept | undefined
  #sink: StreamSink | undefined
  #beginning: Beginning | undefined
  #waitingSinceMs: number | undefined
  #reason: EndReason | undefined
  readonly #shared: StreamShared
  readonly #check: ReaderCheck

  constructor(shared: StreamShared, { node, isOwn, reauthorization, seq, isClaimed }: StreamRequest) {
    this.#shared = shared
    this.#check = new ReaderCheck(reauthorization, (reason, error) => this.#lost(reason, error))
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

  start(sink: StreamSink): void {
    this.#sink = sink
    // A proxy that waits for a first byte before it passes the head on has it now.
    sink.write(KEEP_ALIVE)
    if (this.isClaimed || !this.goLive()) this.#catchUp()
  }

  farewell(): Uint8Array {
    return retryFrame()
  }

  ended(how: StreamEnd): void {
    this.isOver = true
    this.#kept = undefined
    this.#shared.onEnd(this, how === 'operation' ? (this.#reason ?? 'failed') : how)
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

  async room(): Promise<void> {
    const sink = this.#sink
    if (sink === undefined || sink.unsent() < REPLAY_UNSENT_MAX) return
    this.#waitingSinceMs = performance.now()
    await sink.drained()
    this.#waitingSinceMs = undefined
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

  keepAlive(): void {
    const sink = this.#sink
    if (sink === undefined || this.isOver) return
    const nowMs = performance.now()
    if (this.#waitingSinceMs !== undefined && nowMs - this.#waitingSinceMs > STALLED_MS) return this.#end('slow')
    this.#check.confirm(nowMs)
    if (!this.isOver) sink.write(KEEP_ALIVE)
  }

  #write(frame: Buffer): void {
    if (this.#sink?.write(frame) === true) this.#shared.onFrame(this.node.domainId)
  }

  #fallBehind(event?: BusEvent): void {
    this.#kept = { events: event === undefined ? [] : [event], characters: 0, hasOverflowed: false }
    this.#catchUp()
  }

  #catchUp(): void {
    const beginning = this.#beginning
    this.#beginning = undefined
    catchUp(this.#shared.catchUpDeps, this, beginning).catch((error: unknown) => {
      this.#shared.log.error({ err: error, node_id: this.node.nodeId }, 'a stream could not catch up')
      this.#end('failed')
    })
  }

  #lost(reason: 'refused' | 'unconfirmed', error: unknown): void {
    if (reason === 'refused') {
      this.#shared.log.info(
        { node_id: this.node.nodeId, cause: String(error) },
        'a stream was closed: its reader is no longer authorized',
      )
    }
    this.#end(reason)
  }

  #end(reason: EndReason): void {
    if (this.isOver) return
    this.#reason = reason
    this.#sink?.end()
  }
}
