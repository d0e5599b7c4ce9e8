import type { OwnState } from './own-state.ts'

export interface StaleStatesOptions {
  /** How long a state may be given again; 0 for never. */
  readonly ttlMs: number
  /** Nodes whose state is kept. */
  readonly entriesMax: number
}

/** A state that was pulled, or found unchanged, at that moment. */
interface KnownState {
  readonly own: OwnState
  readonly atMs: number
}

/** What nodes pulled last, for a datastore that is away (S1 Degradation 3). */
export interface StaleStates {
  /** Keeps what is the node's own; its peers are kept with the Domain's. */
  keep(nodeId: string, own: OwnState, nowMs: number): void
  /** The node's state is what it was when it pulled it. */
  confirm(nodeId: string, nodeRevision: number, nowMs: number): void
  drop(nodeId: string): void
  /** What was the node's own when it pulled last, unless that is too long ago. */
  find(nodeId: string, nowMs: number): OwnState | undefined
}

/** Keeps the states of the nodes that pulled last, a bounded number of them. */
export function createStaleStates({ ttlMs, entriesMax }: StaleStatesOptions): StaleStates {
  /** In the order in which they were pulled. */
  const known = new Map<string, KnownState>()

  function keep(nodeId: string, own: OwnState, atMs: number): void {
    if (ttlMs === 0 || entriesMax === 0) return
    known.delete(nodeId)
    const oldest = known.keys().next()
    if (known.size >= entriesMax && oldest.done !== true) known.delete(oldest.value)
    known.set(nodeId, { own, atMs })
  }

  return {
    keep,
    confirm(nodeId, nodeRevision, nowMs) {
      const own = known.get(nodeId)?.own
      if (own?.nodeRevision === nodeRevision) keep(nodeId, own, nowMs)
    },
    drop: (nodeId) => void known.delete(nodeId),
    find(nodeId, nowMs) {
      const found = known.get(nodeId)
      return found === undefined || nowMs - found.atMs > ttlMs ? undefined : found.own
    },
  }
}
