import type { mesh } from '../../../../shared/contract/mesh.ts'
import type { Result } from '../../../../shared/contract/operation-types.ts'

export type Topology = Result<(typeof mesh)['operations']['GetDomainMeshTopology']>
export type PlacedNode = Topology['nodes'][number]
export type Edge = Topology['edges'][number]

/** How one node reaches another. */
export interface Way {
  readonly mode: Edge['mode']
  /** Name of the relay; undefined where there is none. */
  readonly relay: string | undefined
}

/** Two nodes, or one direction between them where the other is not shown or differs. */
export interface Link {
  readonly from: PlacedNode
  readonly to: PlacedNode
  readonly way: Way
  /** `to` reaches `from` the same way. */
  readonly isMutual: boolean
}

/** A topology as pictures are drawn from it. */
export interface Picture {
  /** By name, then id. */
  readonly nodes: readonly PlacedNode[]
  readonly links: readonly Link[]
  /** Nodes that edges are relayed by. */
  readonly relays: ReadonlySet<string>
  /** Undefined where the edge is not shown. */
  readonly way: (from: string, to: string) => Way | undefined
}

/** Arranges a topology: nodes in order, and the two directions of an edge as one link where they are alike. */
export function pictureOf({ nodes, edges }: Topology): Picture {
  const byId = new Map(nodes.map((node) => [node.node_id, node]))
  const nameOf = (id: string | undefined): string | undefined =>
    id === undefined ? undefined : (byId.get(id)?.display_name ?? id)
  const ways = new Map(
    edges.map(({ from, to, mode, relay_node_id }) => [`${from} ${to}`, { mode, relay: nameOf(relay_node_id) }]),
  )
  const way = (from: string, to: string): Way | undefined => ways.get(`${from} ${to}`)
  const links = edges.flatMap(({ from: fromId, to: toId }): readonly Link[] => {
    const [from, to, there, back] = [byId.get(fromId), byId.get(toId), way(fromId, toId), way(toId, fromId)]
    if (from === undefined || to === undefined || there === undefined) return []
    const isMutual = back !== undefined && back.mode === there.mode && back.relay === there.relay
    return isMutual && fromId > toId ? [] : [{ from, to, way: there, isMutual }]
  })
  const relays = new Set(edges.flatMap(({ relay_node_id }) => relay_node_id ?? []))
  return { nodes: nodes.toSorted(byName), links, relays, way }
}

function byName(one: PlacedNode, other: PlacedNode): number {
  if (one.display_name === other.display_name) return one.node_id < other.node_id ? -1 : 1
  return one.display_name < other.display_name ? -1 : 1
}

/** `direct`, or `relayed by relay-1`. */
export function wayText({ mode, relay }: Way): string {
  return relay === undefined ? mode : `${mode} by ${relay}`
}

/** The nodes that a node reaches, by the way that it does. */
export function reachedFrom(id: string, { nodes, way }: Picture): ReadonlyMap<string, readonly PlacedNode[]> {
  const groups = new Map<string, PlacedNode[]>()
  for (const node of nodes) {
    const found = way(id, node.node_id)
    if (found === undefined) continue
    const text = wayText(found)
    const group = groups.get(text) ?? []
    group.push(node)
    groups.set(text, group)
  }
  return groups
}
