import { problem } from '../../../shared/problems.ts'
import { atTurnEnd, type TurnEnd } from '../../../shared/immediate-batch.ts'
import { isUnwritable } from '../../ports/datastore.ts'
import type { HeartbeatHints } from './heartbeat-hints.ts'
import {
  createHeartbeatQueue,
  type Caller,
  type Gathered,
  type Heartbeat,
  type HeartbeatQueue,
} from './heartbeat-queue.ts'

/**
 * Stores a batch in one transaction: at most one heartbeat a node, in ascending node id order.
 * Resolves, after the commit, to the hints for each node, in the order of the batch; undefined for a node that does not exist.
 */
export type WriteHeartbeats = (batch: readonly Heartbeat[]) => Promise<readonly (HeartbeatHints | undefined)[]>

export interface HeartbeatCommitOptions {
  readonly write: WriteHeartbeats
  /** Maximum of concurrent batches. */
  readonly flightsMax: number
  /** Minimum size of a batch: above it, waiting heartbeats are divided between batches, so that this process and the datastore work at the same time. */
  readonly batchMin: number
  /** Nodes in one batch. */
  readonly batchMax: number
  /** Maximum turns of the event loop for which a batch waits while each turn adds heartbeats: a larger batch costs less per heartbeat. */
  readonly gatherTurnsMax: number
  /** Callers that wait for a batch or are in one; one more is refused. */
  readonly callersMax: number
  /** A caller is answered after one and a half times this at the latest, whatever the datastore does. */
  readonly deadlineMs: number
}

/** Group commit of heartbeats: many callers share one durable write. */
export interface HeartbeatCommit {
  /**
   * Resolves once the heartbeat, or a later one of the same node, is durable, to the hints for the node: undefined when
   * the node does not exist any more. Rejects with `datastore_unavailable` when too many callers wait already (nothing was written) or the
   * deadline has passed (it may still be written), with `shutting_down` once draining, and with the datastore's own
   * error when the write failed.
   */
  record(heartbeat: Heartbeat): Promise<HeartbeatHints | undefined>
  /** Refuses new heartbeats and resolves when every caller has an answer. */
  drain(): Promise<void>
}

/**
 * Gathers heartbeats while a batch is on its way and sends the next batch in the turn of the event loop in which one
 * ends, so that the batch size follows the load and an idle server answers after a single write.
 */
export function createHeartbeatCommit(options: HeartbeatCommitOptions): HeartbeatCommit {
  const queue = createHeartbeatQueue()
  const flights = new Set<readonly Gathered[]>()
  let callers = 0
  let tick = 0
  let ticking: NodeJS.Timeout | undefined
  let drained: (() => void) | undefined
  const departure = createDeparture(options, queue, depart)

  function record(heartbeat: Heartbeat): Promise<HeartbeatHints | undefined> {
    if (drained !== undefined) return Promise.reject(problem('shutting_down'))
    if (callers >= options.callersMax) return Promise.reject(problem('datastore_unavailable'))
    callers += 1
    return new Promise((resolve, reject) => {
      queue.add(heartbeat, { resolve, reject }, tick)
      if (flights.size < options.flightsMax) departure.ask()
    })
  }

  function depart(): void {
    if (queue.size() === 0) return rest()
    const batch = queue.take(batchSize(queue.size(), options))
    flights.add(batch)
    ticking ??= setInterval(dropOverdue, options.deadlineMs / 2)
    void fly(batch).finally(() => {
      flights.delete(batch)
      if (queue.size() > 0) departure.ask()
      else rest()
    })
    if (queue.size() > 0 && flights.size < options.flightsMax) departure.ask()
  }

  /** A row that the datastore refuses must not fail its neighbours: the batch is halved until the row is alone. */
  async function fly(batch: readonly Gathered[]): Promise<void> {
    try {
      const hints = await options.write(batch.map(({ heartbeat }) => heartbeat))
      for (const [at, waiting] of batch.entries()) answer(waiting, (caller) => caller.resolve(hints[at]))
    } catch (error) {
      if (batch.length === 1 || isUnwritable(error)) return refuse(batch, error)
      const half = batch.length >> 1
      await fly(batch.slice(0, half))
      await fly(batch.slice(half))
    }
  }

  function answer(waiting: Gathered, settle: (caller: Caller) => void): void {
    callers -= waiting.callers.length
    waiting.callers.splice(0).forEach(settle)
  }

  function refuse(batch: readonly Gathered[], error: unknown): void {
    for (const waiting of batch) answer(waiting, (caller) => caller.reject(error))
  }

  /** Frees callers whose write hangs; the batch itself counts until the datastore ends it. */
  function dropOverdue(): void {
    tick += 1
    const late = problem('datastore_unavailable')
    refuse(queue.takeOverdue(tick - 2), late)
    for (const batch of flights)
      refuse(
        batch.filter(({ since }) => since < tick - 2),
        late,
      )
  }

  /** Unless a batch is still being written. */
  function rest(): void {
    if (flights.size > 0 || departure.isAsked()) return
    clearInterval(ticking)
    ticking = undefined
    drained?.()
  }

  return {
    record,
    drain: () =>
      new Promise((resolve) => {
        drained = resolve
        rest()
      }),
  }
}

function batchSize(waiting: number, { flightsMax, batchMin, batchMax }: HeartbeatCommitOptions): number {
  return Math.min(batchMax, Math.max(batchMin, Math.ceil(waiting / flightsMax)))
}

/** Sends the batch at the end of the turn, with all heartbeats of the turn; waits further turns while they add more, within the bound. */
function createDeparture(
  { gatherTurnsMax, batchMin }: HeartbeatCommitOptions,
  queue: HeartbeatQueue,
  depart: () => void,
): TurnEnd {
  let seen = 0
  let turns = 0
  const departure = atTurnEnd(() => (isGathering() ? departure.ask() : depart()))

  function isGathering(): boolean {
    const size = queue.size()
    const isGrowing = size > seen && turns < gatherTurnsMax && size < batchMin
    seen = isGrowing ? size : 0
    turns = isGrowing ? turns + 1 : 0
    return isGrowing
  }

  return departure
}
