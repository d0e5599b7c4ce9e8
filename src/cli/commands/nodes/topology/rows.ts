import type { View } from '../../../output/emit.ts'
import type { Picture, Topology } from './picture.ts'

interface Table {
  readonly rows: readonly unknown[]
  readonly view: View
}

/** A row for each edge: what one node reaches how. */
export function edgeRows({ edges }: Topology, { nodes }: Picture): Table {
  const names = new Map(nodes.map(({ node_id, display_name }) => [node_id, display_name]))
  const rows = edges.map(({ from, to, mode, relay_node_id, path }) => ({
    from: names.get(from) ?? from,
    to: names.get(to) ?? to,
    mode,
    relay: relay_node_id === undefined ? null : (names.get(relay_node_id) ?? relay_node_id),
    path,
    to_id: to,
  }))
  return { rows, view: { columns: ['from', 'to', 'mode', 'relay', 'path', 'to_id'] } }
}

/** A row for each node: how many others reach it directly, and how many by which relays. */
export function nodeRows({ nodes, way }: Picture): Table {
  const rows = nodes.map((node) => {
    const ways = nodes.flatMap((other) => way(other.node_id, node.node_id) ?? [])
    const relayed = ways.filter(({ mode }) => mode === 'relayed')
    return {
      display_name: node.display_name,
      reachability: node.reachability,
      mesh_address: node.mesh_address,
      endpoint: node.endpoint === '' ? null : node.endpoint,
      direct: ways.length - relayed.length,
      relayed: relayed.length,
      relays: [...new Set(relayed.flatMap(({ relay }) => relay ?? []))],
      node_id: node.node_id,
    }
  })
  const columns = ['display_name', 'reachability', 'mesh_address', 'endpoint', 'direct', 'relayed', 'relays', 'node_id']
  return { rows, view: { columns } }
}
