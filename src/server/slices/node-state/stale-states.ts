import { createSecondChanceMap } from '../../../shared/second-chance-map.ts'
import type { StaleAnswersOptions } from '../../ports/stale-answers.ts'
import type { OwnState } from './own-state.ts'

/** The state that a node has: its own part, and the revision of its Domain's peers. */
export interface PulledState {
  readonly own: OwnState
  readonly peers: number
  /** The tag under which it was sent. */
  readonly etag: string
}

/** A state that was pulled, or found unchanged, at that moment. */
interface KnownState extends PulledState {
  readonly atMs: number
}

/** A state that a node has, by its revisions. */
export interface ConfirmedState extends Pick<PulledState, 'peers' | 'etag'> {
  readonly node: number
}

/** The last states that nodes pulled, for outages of the datastore (S1 Degradation 3). */
export interface StaleStates {
  /** Stores what the node pulled, except the peers, which are cached per Domain. */
  keep(nodeId: string, state: PulledState, nowMs: number): void
  /** The node has the state of these revisions, from any replica: drops an older one. */
  confirm(nodeId: string, state: ConfirmedState, nowMs: number): void
  drop(nodeId: string): void
  /** The state that the node pulled last, unless that is too old. */
  find(nodeId: string, nowMs: number): PulledState | undefined
}

/** Keeps the states of the nodes that pulled last, a bounded number of them. */
export function createStaleStates({ ttlMs, entriesMax }: StaleAnswersOptions): StaleStates {
  const known = createSecondChanceMap<KnownState>(entriesMax)

  function keep(nodeId: string, { own, peers, etag }: PulledState, atMs: number): void {
    if (ttlMs === 0 || entriesMax === 0) return
    known.set(nodeId, { own, peers, etag, atMs })
  }

  return {
    keep,
    confirm(nodeId, { peers, node, etag }, nowMs) {
      const own = known.peek(nodeId)?.own
      if (own?.nodeRevision === node) keep(nodeId, { own, peers, etag }, nowMs)
      else known.delete(nodeId)
    },
    drop: (nodeId) => known.delete(nodeId),
    find(nodeId, nowMs) {
      const found = known.peek(nodeId)
      return found === undefined || nowMs - found.atMs > ttlMs ? undefined : found
    },
  }
}
