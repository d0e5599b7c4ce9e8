import type { Change } from './unit-of-work.ts'

/** An outbox row with its place in the order of commits. */
export interface NumberedEvent {
  /** 1, 2, 3 …: none is left out. */
  readonly seq: bigint
  /** The literal of the specification. */
  readonly event: string
  readonly domainId: string | null
  /** What changed, `<type>:<id>`. */
  readonly aggregate: string
  readonly payload: unknown
  readonly correlationId: string
  readonly occurredAt: Date
}

/**
 * Follows the outbox. The process that leads calls it, for one batch at a time; what it has taken is kept under its
 * name, which must never be given to another. A version that drops a consumer deletes its row of `outbox_consumers` in
 * a migration, or nothing is pruned any more.
 */
export interface OutboxConsumer {
  readonly name: string
  /** Events handed over at once at most. Default: 100. */
  readonly batchMax?: number
  /**
   * Takes events in order. The change's transaction also moves the cursor, so that what it writes happens once; what it
   * does outside of the datastore may happen again after a crash, and must be idempotent. When it throws, nothing was
   * taken: the events come again, one by one, and the first that cannot be taken holds up those after it.
   *
   * Resolves with how many it took, from the first on and at least one, where it wants the others later; with nothing
   * where it took them all.
   */
  handle(change: Change, events: readonly NumberedEvent[]): Promise<number | void>
  /** Called when events were taken and that is committed. */
  readonly onTaken?: () => void
}
