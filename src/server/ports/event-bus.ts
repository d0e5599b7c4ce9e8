import type { WireType } from '../../shared/events/wire-types.ts'
import type { Db } from './datastore.ts'

/** A signed event on its way to the stream. */
export interface OutgoingEvent {
  readonly domainId: string
  readonly nodeId: string
  readonly nodeSeq: bigint
  readonly type: WireType
  readonly eventId: string
  /** The signed envelope. */
  readonly wire: string
}

/** An event with more bytes in its signed envelope is refused: it would not fit what a stream may have unsent. */
export const EVENT_BYTES_MAX = 1_000_000

/** `stored`: the stream has it, now or from an earlier try. `refused`: it can never have it as it is. */
export type PublishOutcome =
  | { readonly kind: 'stored' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'held' }

/** An event with its place in the stream. */
export interface BusEvent {
  /** Position in the stream of all nodes; rises, with gaps. */
  readonly seq: bigint
  readonly nodeId: string
  readonly nodeSeq: bigint
  readonly type: string
  /** The signed envelope. */
  readonly wire: string
}

/** An end of what the stream keeps of one node. */
export interface KeptEvent {
  readonly seq: bigint
  readonly nodeSeq: bigint
}

/** What the stream holds at one moment. */
export interface StreamBounds {
  /** The last position given to any node's event; 0 before the first. */
  readonly head: bigint
  /** Undefined where nothing of the node is kept. */
  readonly oldest: KeptEvent | undefined
  readonly newest: KeptEvent | undefined
}

export interface BusFollower {
  /** Takes events in the order of their positions. Called synchronously, must not throw. */
  onEvents(events: readonly BusEvent[]): void
  /** Events may have been missed for good: followers restart from what the stream keeps. */
  onGap(): void
}

export interface BusSubscription {
  /** The position after which everything is handed over. */
  readonly from: bigint
  stop(): Promise<void>
}

/** Thrown while the stream cannot be reached. A caller that asked tries again. */
export class EventBusUnavailable extends Error {
  constructor(cause?: unknown) {
    super('the event stream cannot be reached', { cause })
    this.name = 'EventBusUnavailable'
  }
}

/** Appends events to a stream in the datastore, in the transaction that deletes them from the outgoing events. */
export interface EnlistedAppend {
  /** As `publish` does, once the transaction commits. Rejects as statements of the datastore do. */
  append(tx: Db, events: readonly OutgoingEvent[]): Promise<Appended>
}

export interface Appended {
  readonly outcomes: readonly PublishOutcome[]
  /** Is to be called after the transaction, with whether it is known to have committed. */
  onEnd(isCommitted: boolean): void
}

/**
 * The persistent stream of signed events (S0 Events). Everything rejects with `EventBusUnavailable` while it cannot be
 * reached, after a deadline of its own at the latest.
 */
export interface EventBus {
  readonly kind: 'event-log' | 'jetstream'
  /** There where events need no stage of their own to enter the stream. */
  readonly enlisted?: EnlistedAppend
  /**
   * Appends events; those of one node in the order given. Resolves with one outcome per event: where one is refused, the
   * later ones of its node in this call are `held`, and must be given again. Giving an event twice stores it once, within
   * the dedup window of the stream at least.
   */
  publish(events: readonly OutgoingEvent[]): Promise<readonly PublishOutcome[]>
  bounds(nodeId: string): Promise<StreamBounds>
  /** Up to `max` events of one node with `after < seq <= upTo`, oldest first. */
  read(
    nodeId: string,
    range: { readonly after: bigint; readonly upTo: bigint; readonly max: number },
  ): Promise<readonly BusEvent[]>
  /** Follows the events of every node from now on, over outages, until it is stopped. One a process. */
  subscribe(follower: BusFollower): Promise<BusSubscription>
  /** Resolves when the stream answers. */
  ping(deadlineMs: number): Promise<void>
  /** Since when it has been out of reach, ms; undefined while it is in reach. */
  awaySinceMs(): number | undefined
  close(): Promise<void>
}
