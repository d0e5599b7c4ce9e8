import type { EdgeEpoch } from '../../shared/mesh/edge-epoch.ts'

/** A key as one end of an edge holds it. */
export interface HeldEdge {
  readonly nodeId: string
  readonly peerId: string
  /** The epoch as the node has it: its own half first. */
  readonly epoch: EdgeEpoch
  readonly key: Uint8Array
}

/**
 * The result of comparing a key with the others of its edge. `first`: there is no other key of the same epoch; `agrees`: the
 * same key; `differs`: another key for the same epoch.
 */
export type Comparison = 'first' | 'agrees' | 'differs'

/** The keys of the sampled edges. Both ends are agents of this process. */
export interface EdgeLedger {
  /** Stores the key of one end and compares it with the others of the edge. */
  put(held: HeldEdge): Comparison
  /** Number of edges with a key at both ends: of the same epoch, and of different ones. */
  totals(): { readonly agreeing: number; readonly stale: number }
  /** Removes a node's edges. */
  forget(nodeId: string): void
}

interface End {
  /** The half of the lower id first. */
  readonly epoch: string
  readonly key: string
}

/** The two ends: that of the lower node id first. */
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
    totals() {
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
