import { PEERS_INLINE_MAX } from '../../shared/events/wire-types.ts'
import type { Clock, IdSource } from '../ports/clock.ts'
import type { Datastore, Db } from '../ports/datastore.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import { EVENT_RELAY } from './consumer.ts'
import type { RelayCounters } from './counters.ts'
import { grouped } from './grouped.ts'
import { hintFor } from './hint-payload.ts'
import {
  deleteHeard,
  deleteOwn,
  hasHints,
  lockRelay,
  passLanes,
  preferIndexes,
  readDue,
  readRecent,
  type DueLane,
  type RecentHints,
} from './hints-store.ts'
import { addOutgoing } from './outgoing-store.ts'
import { createGathering } from './peer-changes.ts'
import type { Template, Told } from './event-template.ts'

export interface HintsDeps {
  readonly datastore: Datastore
  readonly clock: Clock
  readonly ids: IdSource
  readonly counters: Pick<RelayCounters, 'merged'>
  /** Called when hints are on their way and that is committed. */
  readonly onHinted: () => void
}

/** The job that the relay wakes when it has kept changes to be hinted. */
export const HINTS = 'event-hints'

/** Hints of one node are so far apart at least, and of one Domain there are no more than so many meanwhile (decisions: Merging). */
const WINDOW_MS = 1_000
const PER_DOMAIN_MAX = 1_000
/** A lane that was not due is looked at again after so long. */
const EVERY_MS = 250
const LANES_MAX = 500
/** Changes that every node was told of may stay for so long. */
const TIDY_EVERY_MS = 2_000
/** Changes of a Domain's peers that are read. Anyone who has heard of none of them pulls its state anyway. */
const RECENT_MAX = 2_000

/** Tells nodes that parts of their state changed: at once after quiet, merged after that. */
export function createHints({ datastore, clock, ids, counters, onHinted }: HintsDeps): LeaderJob {
  const worker = datastore.pool('worker')
  let tidiedMs = -Infinity

  /** Looks at every lane of a Domain, and so not each time. */
  async function tidy(tx: Db, nowMs: number): Promise<void> {
    if (Math.abs(nowMs - tidiedMs) < TIDY_EVERY_MS) return
    await deleteHeard(tx)
    tidiedMs = nowMs
  }

  async function pass(tx: Db): Promise<Pass> {
    const seq = await lockRelay(tx, EVENT_RELAY)
    if (seq === undefined) return { due: 0, merged: 0 }
    await preferIndexes(tx)
    const now = new Date(clock.now())
    const hintedBefore = new Date(now.getTime() - WINDOW_MS)
    const due = await readDue(tx, { now, hintedBefore, perDomain: PER_DOMAIN_MAX, max: LANES_MAX })
    const merged = due.length > 0 ? await hint(tx, due, { seq, occurredAt: now }) : 0
    await tidy(tx, now.getTime())
    return { due: due.length, merged }
  }

  /** Resolves with how many changes were told of together with others. */
  async function hint(tx: Db, due: readonly DueLane[], at: At): Promise<number> {
    const recent = await readRecent(tx, [...new Set(due.map(({ domainId }) => domainId))], RECENT_MAX)
    const hints = hintsOf(due, recent, at)
    await addOutgoing(tx, { ids, hinted: { seq: at.seq, at: at.occurredAt } }, hints)
    const hinted = new Set(hints.map(({ nodeId }) => nodeId))
    const silent = due.filter(({ nodeId }) => !hinted.has(nodeId)).map(({ nodeId }) => nodeId)
    await passLanes(tx, silent, at.seq)
    const told = due.filter(({ ownChanges }) => ownChanges > 0).map(({ nodeId }) => nodeId)
    await deleteOwn(tx, told)
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
  /** How many lanes were due. */
  readonly due: number
  readonly merged: number
}

type At = Pick<Template, 'seq' | 'occurredAt'>

/** A hint with how many changes it tells of. */
interface Hint extends Told {
  readonly changes: number
}

/** One event per lane whose node has something to hear, in the order of node ids. */
function hintsOf(due: readonly DueLane[], recent: ReadonlyMap<string, RecentHints>, at: At): Hint[] {
  const byDomain = grouped(due, ({ domainId }) => domainId)
  const hints = Array.from(byDomain, ([domainId, lanes]) => hintsWithin(lanes, recent.get(domainId), at)).flat()
  return hints.toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))
}

/** Lanes that were told last at the same point hear the same, rendered once, unless something of their own is in it. */
function hintsWithin(lanes: readonly DueLane[], recent: RecentHints | undefined, at: At): Hint[] {
  const { hints, isCut } = recent ?? { hints: [], isCut: false }
  const oldest = isCut ? hints[0]?.seq : undefined
  const gathering = createGathering(hints, PEERS_INLINE_MAX + 1)
  const points = Array.from(grouped(lanes, ({ hintedSeq }) => hintedSeq)).toSorted(([a], [b]) => (a > b ? -1 : 1))
  return points.flatMap(([point, told]) => {
    const peers = oldest !== undefined && point < oldest ? undefined : gathering.after(point)
    const changes = hints.filter(({ seq }) => seq > point).length
    const shared = templateOf(hintFor('', { peers, ownBlocks: [] }), at)
    return told.flatMap(({ nodeId, ownBlocks, ownChanges }) => {
      const isShared = ownBlocks.length === 0 && peers?.has(nodeId) !== true
      const template = isShared ? shared : templateOf(hintFor(nodeId, { peers, ownBlocks }), at)
      return template === undefined ? [] : [{ nodeId, template, changes: changes + ownChanges }]
    })
  })
}

function templateOf(payload: string | undefined, at: At): Template | undefined {
  return payload === undefined ? undefined : { ...at, type: 'node_state_updated', before: payload, after: undefined }
}
