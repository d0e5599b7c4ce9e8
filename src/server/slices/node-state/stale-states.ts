import { createSecondChanceMap } from '../../../shared/second-chance-map.ts'
import type { StaleAnswersOptions } from '../../ports/stale-answers.ts'
import type { OwnState } from './own-state.ts'

/** The state that a node has: its own part, and the revision of its Domain's peers. */
export interface PulledState {
  readonly own: OwnState
  readonly peers: number
}

/** A state that was pulled, or found unchanged, at that moment. */
interface KnownState extends PulledState {
  readonly atMs: number
}

/** The last states that nodes pulled, for outages of the datastore (S1 Degradation 3). */
export interface StaleStates {
  /** Stores what the node pulled, except the peers, which are cached per Domain. */
  keep(nodeId: string, state: PulledState, nowMs: number): void
  /** The node has the state of these revisions, from any replica: drops an older one. */
  confirm(nodeId: string, revisions: { readonly peers: number; readonly node: number }, nowMs: number): void
  drop(nodeId: string): void
  /** The state that the node pulled last, unless that is too old. */
  find(nodeId: string, nowMs: number): PulledState | undefined
}

/** Keeps the states of the nodes that pulled last, a bounded number of them. */
export function createStaleStates({ ttlMs, entriesMax }: StaleAnswersOptions): StaleStates {
  const known = createSecondChanceMap<KnownState>(entriesMax)

  function keep(nodeId: string, { own, peers }: PulledState, atMs: number): void {
    if (ttlMs === 0 || entriesMax === 0) return
    known.set(nodeId, { own, peers, atMs })
  }

  return {
    keep,
    confirm(nodeId, { peers, node }, nowMs) {
      const own = known.peek(nodeId)?.own
      if (own?.nodeRevision === node) keep(nodeId, { own, peers }, nowMs)
      else known.delete(nodeId)
    },
    drop: (nodeId) => known.delete(nodeId),
    find(nodeId, nowMs) {
      const found = known.peek(nodeId)
      return found === undefined || nowMs - found.atMs > ttlMs ? undefined : found
    },
  }
}
