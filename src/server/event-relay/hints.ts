import type { Clock, IdSource } from '../ports/clock.ts'
import type { Datastore, Db } from '../ports/datastore.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import { EVENT_RELAY } from './consumer.ts'
import type { RelayCounters } from './counters.ts'
import type { Template } from './event-template.ts'
import { createHintBudget } from './hint-budget.ts'
import { hintsOf, type Hint } from './hint-events.ts'
import {
  deleteDeliveredHints,
  deleteOwnHints,
  hasHints,
  lockRelay,
  advanceLanes,
  preferIndexes,
  readDue,
  readRecent,
  type DueLane,
} from './hints-store.ts'
import { addOutgoing } from './outgoing-store.ts'
import { createViewers, type Decided } from './viewers.ts'
import { deletePending } from './viewers-store.ts'

export interface HintsDeps {
  readonly datastore: Datastore
  readonly clock: Clock
  readonly ids: IdSource
  readonly counters: Pick<RelayCounters, 'merged'>
  /** Maximum number of hints of all Domains together within the window. */
  readonly hintsPerSecond: number
  /** Called after hints were enqueued and committed. */
  readonly onHinted: () => void
}

/** Name of the job that the relay wakes after it stored changes to hint. */
export const HINTS = 'event-hints'

/** Minimum time between two hints of one node (decisions: Merging). */
const WINDOW_MS = 1_000
/** Maximum number of hints per Domain within the window. */
const PER_DOMAIN_MAX = 1_000
/** Pause before the next check for lanes that are due. */
const EVERY_MS = 250
const LANES_MAX = 500
/** Pause between deletions of changes that every node has received. */
const CLEANUP_EVERY_MS = 2_000
/** Maximum number of peer changes that are read per Domain. A node that is further behind gets a `resync`. */
const RECENT_MAX = 2_000

/**
 * Makes the job that sends hints of changed state. The first change after a quiet window is sent at once; later ones
 * are merged.
 */
export function createHints({ datastore, clock, ids, counters, hintsPerSecond, onHinted }: HintsDeps): LeaderJob {
  const worker = datastore.pool('worker')
  const budget = createHintBudget({ hints: hintsPerSecond, windowMs: WINDOW_MS })
  const viewers = createViewers(datastore)
  let cleanedMs = -Infinity

  /** Reads every lane of the Domain, so it does not run in each pass. */
  async function cleanUp(tx: Db, nowMs: number): Promise<void> {
    if (Math.abs(nowMs - cleanedMs) < CLEANUP_EVERY_MS) return
    await deleteDeliveredHints(tx)
    cleanedMs = nowMs
  }

  async function pass(tx: Db): Promise<Pass> {
    const seq = await lockRelay(tx, EVENT_RELAY)
    if (seq === undefined) return { due: 0, isMore: false, merged: 0 }
    const decided = await viewers.decide(tx, seq)
    await preferIndexes(tx)
    const now = new Date(clock.now())
    const hintedBefore = new Date(now.getTime() - WINDOW_MS)
    const max = Math.min(LANES_MAX, budget.left(now.getTime()))
    const { lanes, isMore } = await readDue(tx, { now, hintedBefore, perDomain: PER_DOMAIN_MAX, max })
    const hints = lanes.length > 0 ? await hint(tx, lanes, { seq, occurredAt: now }) : []
    await cleanUp(tx, now.getTime())
    budget.spend(hints.length, now.getTime())
    const merged = hints.reduce((sum, { changes }) => sum + changes - 1, 0)
    return { due: lanes.length, isMore, merged, decided }
  }

  async function hint(tx: Db, due: readonly DueLane[], at: At): Promise<readonly Hint[]> {
    const domainIds = [...new Set(due.map(({ domainId }) => domainId))]
    const recent = await readRecent(tx, domainIds, RECENT_MAX)
    const hints = hintsOf(due, { recent, visibilities: await viewers.visibilities(tx, domainIds) }, at)
    await addOutgoing(tx, { ids, hinted: { seq: at.seq, at: at.occurredAt } }, hints)
    const hinted = new Set(hints.map(({ nodeId }) => nodeId))
    const unaffected = due.filter(({ nodeId }) => !hinted.has(nodeId)).map(({ nodeId }) => nodeId)
    await advanceLanes(tx, unaffected, at.seq)
    const changed = due.filter(({ ownChanges }) => ownChanges > 0).map(({ nodeId }) => nodeId)
    await deleteOwnHints(tx, changed)
    await deletePending(tx, pendingOf(due))
    return hints
  }

  return {
    name: HINTS,
    everyMs: EVERY_MS,
    async run(leading) {
      if (!(await hasHints(worker))) return false
      await viewers.prepare()
      const { due, isMore, merged, decided } = await leading.transaction(pass)
      decided?.commit()
      counters.merged(merged)
      if (due > 0) onHinted()
      return isMore
    },
  }
}

interface Pass {
  /** Number of lanes that were due. */
  readonly due: number
  /** Whether more of them may have a hint at once. */
  readonly isMore: boolean
  readonly merged: number
  readonly decided?: Decided
}

/** The nodes that were due because of peers that only some nodes see. */
function pendingOf(due: readonly DueLane[]): readonly string[] {
  return due.filter(({ isResync, afterSeq }) => isResync || afterSeq !== undefined).map(({ nodeId }) => nodeId)
}

type At = Pick<Template, 'seq' | 'occurredAt'>
