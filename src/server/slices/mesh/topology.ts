import type { mesh } from '../../../shared/contract/mesh.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { readPathsReport } from '../../../shared/mesh/paths-report.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import { edgeWay, type RelayPair, type Relays } from '../../sql/edge-mode.ts'
import { formatEndpoint } from '../../sql/endpoint-text.ts'
import { readHops, relaysOf } from '../../sql/relay-hops.ts'
import { stateAt } from '../../sql/reachability.ts'
import { visibleAmong } from '../../policies/visible-ids.ts'
import type { Worlds } from '../../policies/worlds.ts'
import { domainExists, hasMoreNodes, isNodeOf, readPathReports, readPlaced, type PlacedNode } from './topology-store.ts'

type Topology = Result<(typeof mesh)['operations']['GetDomainMeshTopology']>

/** Largest Domain of which all edges are shown (decisions: Peers). */
const NODES_MAX = 300

/**
 * Serves how the nodes of a Domain reach each other: all edges, or those of one node. Where nodes see only some peers, there
 * are edges with these alone, and with `node_id` the answer has only the nodes at their ends.
 */
export function createTopology({
  datastore,
  worlds,
}: {
  readonly datastore: Datastore
  readonly worlds: Worlds
}): Pick<Handlers<typeof mesh>, 'GetDomainMeshTopology'> {
  return {
    async GetDomainMeshTopology(ctx, { domain_id: domainId, node_id: nodeId }) {
      const db = datastore.pool('interactive')
      if (!(await domainExists(db, domainId))) throw problem('domain_not_found')
      await assertShown(db, domainId, nodeId)
      const chosen = relaysOf(await readHops(db, domainId))
      const visibility = await worlds.latest(domainId)
      const nodes = await readPlaced(db, domainId)
      const relays = relaysAmong(nodes, chosen)
      const from = nodeId === undefined ? nodes : nodes.filter(({ id }) => id === nodeId)
      const pathsOf = readPaths(from, await readPathReports(db, domainId, nodeId), ctx.nowMs)
      const seenBy = (id: string) => visibleAmong(nodes, (node) => node.id, { visibility, nodeId: id })
      const shown = nodeId === undefined || visibility === undefined ? nodes : inOrder([...from, ...seenBy(nodeId)])
      return {
        domain_id: domainId,
        nodes: shown.map((node) => viewOf(node, ctx.nowMs)),
        edges: from.flatMap(({ id }) => withPaths(edgesFrom(id, seenBy(id), relays), pathsOf(id))),
      }
    },
  }
}

/** @throws Problem `node_not_found`, or `topology_filter_required` where no node is named and there are too many. */
async function assertShown(db: Db, domainId: string, nodeId: string | undefined): Promise<void> {
  if (nodeId === undefined) {
    if (await hasMoreNodes(db, domainId, NODES_MAX)) throw problem('topology_filter_required')
  } else if (!(await isNodeOf(db, domainId, nodeId))) throw problem('node_not_found')
}

/** The choice without those that have been deregistered since it was made: the next choice replaces them. */
export function relaysAmong(nodes: readonly { readonly id: string }[], chosen: Relays): Relays {
  const there = new Set(nodes.map(({ id }) => id))
  const pairAmong = ({ relay_node_id, second_relay_node_id }: RelayPair): RelayPair => {
    const [first, second] = [relay_node_id, second_relay_node_id].filter((id) => id !== null && there.has(id))
    return { relay_node_id: first ?? null, second_relay_node_id: second ?? null }
  }
  const preferred = Array.from(chosen.preferred ?? [], ([id, pair]) => [id, pairAmong(pair)] as const)
  return { ...pairAmong(chosen), preferred: new Map(preferred) }
}

type Edge = Topology['edges'][number]
/** How packets reach a node; null where that is not known. */
type PathTo = (nodeId: string) => Edge['path']

/** The reports of those nodes that send heartbeats: of others nothing is known. */
function readPaths(
  from: readonly PlacedNode[],
  reports: ReadonlyMap<string, string>,
  nowMs: number,
): (from: string) => PathTo {
  const read = new Map<string, PathTo | undefined>()
  for (const { id, accepted_at } of from) {
    const report = stateAt(accepted_at?.getTime(), nowMs) === 'healthy' ? reports.get(id) : undefined
    read.set(id, report === undefined ? undefined : readPathsReport(report))
  }
  return (id) => read.get(id) ?? (() => null)
}

function withPaths(edges: readonly ChosenEdge[], pathTo: PathTo): readonly Edge[] {
  return edges.map((edge) => ({ ...edge, path: pathTo(edge.to) }))
}

/** An edge as the server has chosen it. */
type ChosenEdge = Omit<Edge, 'path'>

/** The edges that begin at a node, by where they end. */
export function edgesFrom(
  from: string,
  nodes: readonly (Pick<PlacedNode, 'id' | 'endpoint'> & { readonly bridge_id?: string | null })[],
  relays: Relays,
): readonly ChosenEdge[] {
  const edges: ChosenEdge[] = []
  for (const { id: to, endpoint, bridge_id: bridgeId } of nodes) {
    if (to === from) continue
    const way = edgeWay(from, { nodeId: to, hasEndpoint: endpoint !== null, bridgeId: bridgeId ?? null }, relays)
    edges.push({ from, to, mode: way.mode, ...(way.mode === 'relayed' && { relay_node_id: way.relayNodeId }) })
  }
  return edges
}

function inOrder(nodes: readonly PlacedNode[]): readonly PlacedNode[] {
  return nodes.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

function viewOf(node: PlacedNode, nowMs: number): Topology['nodes'][number] {
  return {
    node_id: node.id,
    display_name: node.name,
    display_kind: node.kind,
    mesh_address: node.mesh_address,
    reachability: stateAt(node.accepted_at?.getTime(), nowMs),
    endpoint: formatEndpoint(node.endpoint, node.endpoint_port),
  }
}
