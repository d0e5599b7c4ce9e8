import type { SimulatedNode } from './simulated-node.ts'

/**
 * The ids of those who stand next to a node where all stand in a ring, half of them on either side: anyone who is somebody's
 * neighbour has them for a neighbour too, so that both ends of each edge are looked at.
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
