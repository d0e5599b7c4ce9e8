import type { SimulatedNode } from './simulated-node.ts'

/**
 * The ids of a node's neighbours when the nodes are arranged in a ring: `count` nodes, half of them on each side. The relation
 * is symmetric, so both ends of each sampled edge are checked. `index`: of the node in the list.
 */
export function neighboursOf(nodes: readonly SimulatedNode[], index: number, count: number): readonly string[] {
  const ids = new Set<string>()
  for (let distance = 1; distance <= Math.ceil(count / 2); distance += 1) {
    for (const other of [index + distance, index - distance]) {
      const node = nodes[(other + distance * nodes.length) % nodes.length]
      if (node !== undefined && node !== nodes[index]) ids.add(node.identity.node_id)
    }
  }
  return [...ids]
}

/** Makes the function that returns the neighbours of a node, by its index in the fleet: nodes of its Domain. */
export function createNeighbours(
  nodes: () => readonly SimulatedNode[],
  count: number,
): (place: number) => readonly string[] {
  let grouped: readonly SimulatedNode[] = []
  let groupedSize = 0
  let places: readonly { readonly ring: readonly SimulatedNode[]; readonly index: number }[] = []
  return (place) => {
    const all = nodes()
    if (all !== grouped || all.length !== groupedSize) {
      places = placesOf(all)
      grouped = all
      groupedSize = all.length
    }
    const at = places[place]
    return at === undefined ? [] : neighboursOf(at.ring, at.index, count)
  }
}

function placesOf(nodes: readonly SimulatedNode[]) {
  const rings = new Map<string, SimulatedNode[]>()
  return nodes.map((node) => {
    const domain = node.identity.domain_id ?? ''
    const ring = rings.get(domain) ?? []
    rings.set(domain, ring)
    ring.push(node)
    return { ring, index: ring.length - 1 }
  })
}
