import { LRUCache } from 'lru-cache'
import { differenceOf, prepareDifference } from '../policies/visibility-differences.ts'
import { countOf, eachPlace, type Runs, type Visibility } from '../policies/visibility.ts'
import { readWorld } from '../policies/world-store.ts'
import { createWorlds } from '../policies/worlds.ts'
import type { Datastore, Db } from '../ports/datastore.ts'
import type { PeerHint } from './peer-changes.ts'
import {
  addPending,
  addPendingOfDomain,
  deleteVisibilityChanges,
  filteredAmong,
  markDecided,
  readUndecided,
  undecidedDomains,
  type Pending,
  type Undecided,
} from './viewers-store.ts'
import { placeHints, viewersOf, type PlacedHint } from './visible-hints.ts'

/** Decides which nodes are due where nodes see only some of their peers. Used by one pass at a time. */
export interface Viewers {
  /** Does the expensive part of the next `decide` before its transaction. */
  prepare(): Promise<void>
  /**
   * Decides which nodes the undecided changes concern. `seq`: the last outbox row that was taken. To be called under the
   * relay's lock; `commit` of the result is to be called once its transaction is committed.
   */
  decide(tx: Db, seq: bigint): Promise<Decided>
  /** Who sees whom in those of the Domains whose nodes see only some others. Not older than the decided changes. */
  visibilities(tx: Db, domainIds: readonly string[]): Promise<ReadonlyMap<string, Visibility>>
}

export interface Decided {
  commit(): void
}

/** The state of visibility in a Domain that its nodes are notified of. */
interface Notified {
  /** The last state that was compared with the one before it. */
  readonly visibility: Visibility
  /** Changes of an earlier revision were not compared by this process: it did not know the state before them. */
  readonly since: number
}

/** Maximum of Domains whose last state is kept; every node of another one receives a hint when visibility changes there. */
const DOMAINS_MAX = 256
/** Maximum of undecided changes that are decided one by one; with more, every lane of the Domain becomes due. */
const UNDECIDED_MAX = 2_000
/** A change that concerns at least this part of the nodes is due to every lane: a row for each costs more than to skip one. */
const WIDE_PART = 0.25

export function createViewers(datastore: Datastore): Viewers {
  // Reads of a pass are in its transaction, so that they see all that was committed before the changes that it handles.
  let reader: Db = datastore.pool('worker')
  const worlds = createWorlds({ read: (id, since) => readWorld(reader, id, since), worldsMax: DOMAINS_MAX })
  const notified = new LRUCache<string, Notified>({ max: DOMAINS_MAX })

  async function latest(db: Db, domainId: string): Promise<Visibility | undefined> {
    reader = db
    return worlds.latest(domainId)
  }

  /** Resolves with the state that the nodes of the Domain are notified of then. */
  async function decideDomain(tx: Db, domainId: string, seq: bigint): Promise<Notified | undefined> {
    const undecided = await readUndecided(tx, domainId, UNDECIDED_MAX)
    const visibility = await latest(tx, domainId)
    const known = notified.get(domainId)
    if (visibility === undefined) {
      if (undecided.visibilityRevisions.length > 0) await addPendingOfDomain(tx, domainId, seq)
      await decided(tx, domainId, [])
      return undefined
    }
    const isUnknown = isUncovered(known, undecided)
    if (isUnknown) await addPendingOfDomain(tx, domainId, seq)
    else if (known !== undefined) await addPending(tx, resyncs(known.visibility, visibility, seq))
    await decided(tx, domainId, await spread(tx, undecided, visibility))
    // Every earlier change is in what the nodes pull now.
    return { visibility, since: isUnknown ? -1 : (known?.since ?? visibility.world.revision) }
  }

  return {
    async prepare() {
      const db = datastore.pool('worker')
      for (const domainId of await undecidedDomains(db)) {
        const [known, visibility] = [notified.peek(domainId), await latest(db, domainId)]
        if (known !== undefined && visibility !== undefined) await prepareDifference(known.visibility, visibility)
      }
    },
    async decide(tx, seq) {
      const next = new Map<string, Notified | undefined>()
      for (const domainId of await undecidedDomains(tx)) next.set(domainId, await decideDomain(tx, domainId, seq))
      return {
        commit() {
          for (const [domainId, of] of next) {
            if (of === undefined) notified.delete(domainId)
            else notified.set(domainId, of)
          }
        },
      }
    },
    async visibilities(tx, domainIds) {
      const found = new Map<string, Visibility>()
      for (const domainId of await filteredAmong(tx, domainIds)) {
        const visibility = await latest(tx, domainId)
        if (visibility !== undefined) found.set(domainId, visibility)
      }
      return found
    },
  }
}

/** Whether visibility changed in a way that this process cannot compare with the state before. */
function isUncovered(known: Notified | undefined, { visibilityRevisions }: Undecided): boolean {
  if (visibilityRevisions.length === 0) return false
  return known === undefined || visibilityRevisions.some((revision) => revision <= known.since)
}

function resyncs(before: Visibility, after: Visibility, seq: bigint): readonly Pending[] {
  return differenceOf(before, after).map((nodeId) => ({ nodeId, afterSeq: seq, isResync: true }))
}

async function decided(tx: Db, domainId: string, narrow: readonly bigint[]): Promise<void> {
  await markDecided(tx, domainId, narrow)
  await deleteVisibilityChanges(tx, domainId)
}

/** Makes the nodes due that narrow changes concern. Resolves with the outbox rows of these changes. */
async function spread(tx: Db, { hints, isCut }: Undecided, visibility: Visibility): Promise<readonly bigint[]> {
  if (isCut) return []
  const narrow: bigint[] = []
  const first = new Map<number, bigint>()
  for (const placed of placeHints(hints, visibility)) {
    const viewers = narrowViewers(placed, visibility)
    if (viewers === undefined) continue
    const { seq }: PeerHint = placed.hint
    narrow.push(seq)
    for (const runs of viewers) eachPlace(runs, (place) => void (first.has(place) || first.set(place, seq - 1n)))
  }
  const { ids } = visibility.world
  await addPending(
    tx,
    Array.from(first, ([place, afterSeq]) => ({ nodeId: ids[place] ?? '', afterSeq, isResync: false })),
  )
  return narrow
}

/** The nodes that a change concerns; undefined where they are many. */
function narrowViewers(placed: PlacedHint, visibility: Visibility): readonly Runs[] | undefined {
  const viewers = viewersOf(placed, visibility)
  const limit = visibility.world.ids.length * WIDE_PART
  if (viewers === undefined) return undefined
  return viewers.reduce((sum, runs) => sum + countOf(runs), 0) >= limit ? undefined : viewers
}
