import type { EdgeEpoch } from '../../shared/mesh/edge-epoch.ts'

/** A key as one end of an edge holds it. */
export interface HeldEdge {
  readonly nodeId: string
  readonly peerId: string
  /** As the node itself has it: its own half first. */
  readonly epoch: EdgeEpoch
  readonly key: Uint8Array
}

/**
 * What comes of comparing a key with the other ones of its edge. `first`: there is nothing of the same epoch to compare it
 * with; `agrees`; `differs`: another key for the same epoch.
 */
export type Comparison = 'first' | 'agrees' | 'differs'

/** The keys that the ends of the sampled edges hold: both ends are agents of this process. */
export interface EdgeLedger {
  put(held: HeldEdge): Comparison
  /** Edges of which both ends hold a key, and whether of the same epoch. */
  standing(): { readonly agreeing: number; readonly stale: number }
  /** Leaves a node out of what `standing` says. */
  forget(nodeId: string): void
}

interface End {
  /** The half of the lower id first. */
  readonly epoch: string
  readonly key: string
}

/** By the two ends: the lower id's first. */
type Edge = [End | undefined, End | undefined]

/** Makes an empty ledger. */
export function createEdgeLedger(): EdgeLedger {
  const edges = new Map<string, Edge>()
  return {
    put({ nodeId, peerId, epoch, key }) {
      const isLow = nodeId < peerId
      const name = isLow ? `${nodeId}|${peerId}` : `${peerId}|${nodeId}`
      const edge: Edge = edges.get(name) ?? [undefined, undefined]
      edges.set(name, edge)
      const end = {
        epoch: isLow ? `${epoch.own}|${epoch.peer}` : `${epoch.peer}|${epoch.own}`,
        key: Buffer.from(key).toString('base64'),
      }
      const others = edge.filter((other) => other?.epoch === end.epoch)
      edge[isLow ? 0 : 1] = end
      if (others.length === 0) return 'first'
      return others.every((other) => other?.key === end.key) ? 'agrees' : 'differs'
    },
    standing() {
      let [agreeing, stale] = [0, 0]
      for (const [low, high] of edges.values()) {
        if (low === undefined || high === undefined) continue
        if (low.epoch === high.epoch) agreeing += 1
        else stale += 1
      }
      return { agreeing, stale }
    },
    forget(nodeId) {
      for (const name of edges.keys()) if (name.includes(nodeId)) edges.delete(name)
    },
  }
}
