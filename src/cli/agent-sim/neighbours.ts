import type { SimulatedNode } from './simulated-node.ts'

/**
 * The ids of a node's neighbours when the fleet is arranged in a ring: `count` nodes, half of them on each side. The relation
 * is symmetric, so both ends of each sampled edge are checked.
 */
export function neighboursOf(nodes: readonly SimulatedNode[], place: number, count: number): readonly string[] {
  const ids = new Set<string>()
  for (let distance = 1; distance <= Math.ceil(count / 2); distance += 1) {
    for (const other of [place + distance, place - distance]) {
      const node = nodes[(other + distance * nodes.length) % nodes.length]
      if (node !== undefined && node.place !== place) ids.add(node.identity.node_id)
    }
  }
  return [...ids]
}
