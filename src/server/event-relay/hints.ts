import { PEERS_INLINE_MAX } from '../../shared/events/wire-types.ts'
import type { Clock, IdSource } from '../ports/clock.ts'
import type { Datastore, Db } from '../ports/datastore.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import { EVENT_RELAY } from './consumer.ts'
import type { RelayCounters } from './counters.ts'
import { grouped } from './grouped.ts'
import { hintPayload } from './hint-payload.ts'
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
  type RecentHints,
} from './hints-store.ts'
import { addOutgoing } from './outgoing-store.ts'
import { createChangeMerger } from './peer-changes.ts'
import type { Template, NodeEvent } from './event-template.ts'

export interface HintsDeps {
  readonly datastore: Datastore
  readonly clock: Clock
  readonly ids: IdSource
  readonly counters: Pick<RelayCounters, 'merged'>
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
export function createHints({ datastore, clock, ids, counters, onHinted }: HintsDeps): LeaderJob {
  const worker = datastore.pool('worker')
  let cleanedMs = -Infinity

  /** Reads every lane of the Domain, so it does not run in each pass. */
  async function cleanUp(tx: Db, nowMs: number): Promise<void> {
    if (Math.abs(nowMs - cleanedMs) < CLEANUP_EVERY_MS) return
    await deleteDeliveredHints(tx)
    cleanedMs = nowMs
  }

  async function pass(tx: Db): Promise<Pass> {
    const seq = await lockRelay(tx, EVENT_RELAY)
    if (seq === undefined) return { due: 0, merged: 0 }
    await preferIndexes(tx)
    const now = new Date(clock.now())
    const hintedBefore = new Date(now.getTime() - WINDOW_MS)
    const due = await readDue(tx, { now, hintedBefore, perDomain: PER_DOMAIN_MAX, max: LANES_MAX })
    const merged = due.length > 0 ? await hint(tx, due, { seq, occurredAt: now }) : 0
    await cleanUp(tx, now.getTime())
    return { due: due.length, merged }
  }

  /** Resolves with the number of changes that were merged into another hint. */
  async function hint(tx: Db, due: readonly DueLane[], at: At): Promise<number> {
    const recent = await readRecent(tx, [...new Set(due.map(({ domainId }) => domainId))], RECENT_MAX)
    const hints = hintsOf(due, recent, at)
    await addOutgoing(tx, { ids, hinted: { seq: at.seq, at: at.occurredAt } }, hints)
    const hinted = new Set(hints.map(({ nodeId }) => nodeId))
    const unaffected = due.filter(({ nodeId }) => !hinted.has(nodeId)).map(({ nodeId }) => nodeId)
    await advanceLanes(tx, unaffected, at.seq)
    const changed = due.filter(({ ownChanges }) => ownChanges > 0).map(({ nodeId }) => nodeId)
    await deleteOwnHints(tx, changed)
    return hints.reduce((sum, { changes }) => sum + changes - 1, 0)
  }

  return {
    name: HINTS,
    everyMs: EVERY_MS,
    async run(leading) {
      if (!(await hasHints(worker))) return false
      const { due, merged } = await leading.transaction(pass)
      counters.merged(merged)
      if (due > 0) onHinted()
      return due === LANES_MAX
    },
  }
}

interface Pass {
  /** Number of lanes that were due. */
  readonly due: number
  readonly merged: number
}

type At = Pick<Template, 'seq' | 'occurredAt'>

/** A hint with the number of changes that it covers. */
interface Hint extends NodeEvent {
  readonly changes: number
}

/** One hint per due lane that has changes, ordered by node id. */
function hintsOf(due: readonly DueLane[], recent: ReadonlyMap<string, RecentHints>, at: At): Hint[] {
  const byDomain = grouped(due, ({ domainId }) => domainId)
  const hints = Array.from(byDomain, ([domainId, lanes]) => hintsWithin(lanes, recent.get(domainId), at)).flat()
  return hints.toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))
}

/** Lanes whose last hint was at the same outbox row share one payload, unless it contains the node's own changes. */
function hintsWithin(lanes: readonly DueLane[], recent: RecentHints | undefined, at: At): Hint[] {
  const { hints, isCut } = recent ?? { hints: [], isCut: false }
  const oldest = isCut ? hints[0]?.seq : undefined
  const merger = createChangeMerger(hints, PEERS_INLINE_MAX + 1)
  const points = Array.from(grouped(lanes, ({ hintedSeq }) => hintedSeq)).toSorted(([a], [b]) => (a > b ? -1 : 1))
  return points.flatMap(([point, lanesAt]) => {
    const peers = oldest !== undefined && point < oldest ? undefined : merger.since(point)
    const changes = hints.filter(({ seq }) => seq > point).length
    const shared = templateOf(hintPayload('', { peers, ownBlocks: [] }), at)
    return lanesAt.flatMap(({ nodeId, ownBlocks, ownChanges }) => {
      const isShared = ownBlocks.length === 0 && peers?.peers.has(nodeId) !== true
      const template = isShared ? shared : templateOf(hintPayload(nodeId, { peers, ownBlocks }), at)
      return template === undefined ? [] : [{ nodeId, template, changes: changes + ownChanges }]
    })
  })
}

function templateOf(payload: string | undefined, at: At): Template | undefined {
  return payload === undefined ? undefined : { ...at, type: 'node_state_updated', before: payload, after: undefined }
}
