import type { VNode } from 'preact'
import type { NodeSummary, Topology } from '../api/operations.ts'
import { counted, numberText } from '../model/format.ts'
import { idsAway, wayOf, type Way } from '../model/topology.ts'
import { useConsole } from './context.ts'
import { Empty, LoadedView, NodeLink, Panel, Time } from './parts.tsx'
import { Table } from './table.tsx'
import { useRead } from './use-read.ts'

type EdgeOf = Topology['edges'][number]

/** A node whose connections are shown. */
export type ConnectedNode = Pick<NodeSummary, 'id' | 'reachability' | 'last_heartbeat_at'>

/** The ways between nodes in words. */
export const WAYS: Readonly<Record<Way, string>> = {
  direct: 'direct',
  relayed: 'by a relay',
  none: 'no connection',
  away: 'out of reach',
}
const ROWS_MAX = 12

/** How a node reaches the others. */
export function NodeConnections({ node }: { readonly node: ConnectedNode }): VNode {
  const { api, domain } = useConsole()
  const topology = useRead({ key: node.id, topics: ['mesh'], isOfDomain: true }, (signal) =>
    api.call('GetDomainMeshTopology', { domain_id: domain.id, node_id: node.id }, signal),
  )
  return (
    <Panel title="Connections">
      <LoadedView of={topology} what="the connections">
        {(value) => <Connections node={node} topology={value} />}
      </LoadedView>
    </Panel>
  )
}

interface ConnectionsProps {
  readonly node: ConnectedNode
  readonly topology: Topology
}

/**
 * The connections of one node: how many of each kind, and those that are not direct. A node that does not report in time has no
 * connections that are known, only those that the server plans.
 */
export function Connections({ node, topology }: ConnectionsProps): VNode {
  const edges = topology.edges.filter(({ from }) => from === node.id)
  if (edges.length === 0) return <Empty>The node sees no other node.</Empty>
  const away = idsAway(topology.nodes.map(({ node_id: id, reachability }) => ({ id, reachability })))
  if (!away.has(node.id)) return <Ways edges={edges} topology={topology} away={away} />
  return (
    <>
      <p>
        {node.reachability === 'never_reported' ? (
          'The node has never reported, so no connection of it is known.'
        ) : (
          <>
            The node is out of reach: its last report was <Time at={node.last_heartbeat_at} />. Whether any of its
            connections still works is not known.
          </>
        )}
      </p>
      <p class="muted">Planned: {summaryOf(edges, NONE_AWAY)}</p>
    </>
  )
}

const NONE_AWAY: ReadonlySet<string> = new Set()

interface WaysProps {
  readonly edges: readonly EdgeOf[]
  readonly topology: Topology
  readonly away: ReadonlySet<string>
}

function Ways({ edges, topology: { nodes }, away }: WaysProps): VNode {
  const names = new Map(nodes.map(({ node_id: id, display_name: name }) => [id, name]))
  const indirect = edges.filter((edge) => wayOf(edge, away) !== 'direct')
  return (
    <>
      <p>{summaryOf(edges, away)}</p>
      {indirect.length > 0 && (
        <Table
          caption="Nodes that are not reached directly"
          columns={[
            { head: 'Node', cell: ({ to }: EdgeOf) => <NodeLink id={to} name={names.get(to) ?? to} /> },
            { head: 'Way', cell: (edge: EdgeOf) => <WayOf edge={edge} names={names} away={away} /> },
            { head: 'Known from', cell: ({ path }: EdgeOf) => (path === null ? 'the plan' : 'a report') },
          ]}
          rows={indirect.slice(0, ROWS_MAX)}
          keyOf={({ to }) => to}
        />
      )}
      {indirect.length > ROWS_MAX && <p class="muted">And {counted(indirect.length - ROWS_MAX, 'node')} more.</p>}
    </>
  )
}

/** How many of the other nodes are reached in which way, e.g. `49 other nodes: 46 direct, 3 out of reach.` */
function summaryOf(edges: readonly EdgeOf[], away: ReadonlySet<string>): string {
  const ways = Object.keys(WAYS) as Way[]
  const counts = ways.map((way) => [way, edges.filter((edge) => wayOf(edge, away) === way).length] as const)
  const shown = counts.filter(([way, count]) => way === 'direct' || count > 0)
  return `${counted(edges.length, 'other node')}: ${shown.map(([way, count]) => `${numberText(count)} ${WAYS[way]}`).join(', ')}.`
}

interface WayProps {
  readonly edge: EdgeOf
  readonly names: ReadonlyMap<string, string>
  readonly away: ReadonlySet<string>
}

function WayOf({ edge, names, away }: WayProps): VNode {
  const { relay_node_id: relay } = edge
  const way = wayOf(edge, away)
  if (way !== 'relayed' || relay === undefined) return <>{WAYS[way]}</>
  return (
    <>
      by the relay <NodeLink id={relay} name={names.get(relay) ?? relay} />
    </>
  )
}
