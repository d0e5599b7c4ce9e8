import { PEERS_INLINE_MAX } from '../../shared/events/wire-types.ts'
import type { Clock, IdSource } from '../ports/clock.ts'
import type { Datastore, Db } from '../ports/datastore.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import { EVENT_RELAY } from './consumer.ts'
import { grouped } from './grouped.ts'
import { hintFor } from './hint-payload.ts'
import {
  deleteHeard,
  hasHints,
  lockRelay,
  moveLanes,
  readDue,
  readRecent,
  type DueLane,
  type RecentHints,
} from './hints-store.ts'
import { addOutgoing } from './outgoing-store.ts'
import { createGathering } from './peer-changes.ts'
import type { Template, Told } from './told.ts'

export interface HintsDeps {
  readonly datastore: Datastore
  readonly clock: Clock
  readonly ids: IdSource
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
/** Changes of a Domain's peers that are read. Whoever has heard of none of them pulls its state anyway. */
const RECENT_MAX = 2_000

/** Tells nodes that parts of their state changed: at once after quiet, merged after that. */
export function createHints({ datastore, clock, ids, onHinted }: HintsDeps): LeaderJob {
  const worker = datastore.pool('worker')

  /** Resolves with how many lanes were due. */
  async function pass(tx: Db): Promise<number> {
    const seq = await lockRelay(tx, EVENT_RELAY)
    if (seq === undefined) return 0
    const now = new Date(clock.now())
    const hintedBefore = new Date(now.getTime() - WINDOW_MS)
    const due = await readDue(tx, { now, hintedBefore, perDomain: PER_DOMAIN_MAX, max: LANES_MAX })
    if (due.length > 0) await hint(tx, due, { seq, now })
    await deleteHeard(tx)
    return due.length
  }

  async function hint(tx: Db, due: readonly DueLane[], { seq, now }: { seq: bigint; now: Date }): Promise<void> {
    const recent = await readRecent(tx, [...new Set(due.map(({ domainId }) => domainId))], RECENT_MAX)
    const told = hintsOf(due, recent, { seq, occurredAt: now })
    await addOutgoing(tx, ids, told)
    const hinted = new Set(told.map(({ nodeId }) => nodeId))
    const silent = due.filter(({ nodeId }) => !hinted.has(nodeId)).map(({ nodeId }) => nodeId)
    await moveLanes(tx, { seq, hinted: [...hinted], silent, at: now })
  }

  return {
    name: HINTS,
    everyMs: EVERY_MS,
    async run(leading) {
      if (!(await hasHints(worker))) return false
      const due = await leading.transaction(pass)
      if (due > 0) onHinted()
      return due === LANES_MAX
    },
  }
}

type At = Pick<Template, 'seq' | 'occurredAt'>

/** One event per lane whose node has something to hear, in the order of node ids. */
function hintsOf(due: readonly DueLane[], recent: ReadonlyMap<string, RecentHints>, at: At): Told[] {
  const byDomain = grouped(due, ({ domainId }) => domainId)
  const told = Array.from(byDomain, ([domainId, lanes]) => hintsWithin(lanes, recent.get(domainId), at)).flat()
  return told.toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))
}

/** Lanes that were told last at the same point hear the same, rendered once, unless something of their own is in it. */
function hintsWithin(lanes: readonly DueLane[], recent: RecentHints | undefined, at: At): Told[] {
  const { hints, isCut } = recent ?? { hints: [], isCut: false }
  const oldest = isCut ? hints[0]?.seq : undefined
  const gathering = createGathering(hints, PEERS_INLINE_MAX + 1)
  const byPoint = grouped(lanes, ({ hintedSeq }) => hintedSeq)
  const points = Array.from(byPoint).toSorted(([a], [b]) => (a > b ? -1 : 1))
  return points.flatMap(([point, told]) => {
    const peers = oldest !== undefined && point < oldest ? undefined : gathering.after(point)
    const shared = templateOf(hintFor('', { peers, ownBlocks: [] }), at)
    return told.flatMap(({ nodeId, ownBlocks }) => {
      const isShared = ownBlocks.length === 0 && peers?.has(nodeId) !== true
      const template = isShared ? shared : templateOf(hintFor(nodeId, { peers, ownBlocks }), at)
      return template === undefined ? [] : [{ nodeId, template }]
    })
  })
}

function templateOf(payload: string | undefined, at: At): Template | undefined {
  return payload === undefined ? undefined : { ...at, type: 'node_state_updated', before: payload, after: undefined }
}
