import type { VNode } from 'preact'
import type { Topology } from '../api/operations.ts'
import { counted, numberText } from '../model/format.ts'
import { wayOf } from '../model/topology.ts'
import { useConsole } from './context.ts'
import { Empty, LoadedView, NodeLink, Panel } from './parts.tsx'
import { Table } from './table.tsx'
import { useRead } from './use-read.ts'

type EdgeOf = Topology['edges'][number]

const WAYS = { direct: 'direct', relayed: 'by a relay', none: 'no session' } as const
const ROWS_MAX = 12

/** How a node reaches the others. */
export function NodeConnections({ id }: { readonly id: string }): VNode {
  const { api, domain } = useConsole()
  const topology = useRead({ key: id, topics: ['mesh'] }, (signal) =>
    api.call('GetDomainMeshTopology', { domain_id: domain.id, node_id: id }, signal),
  )
  return (
    <Panel title="Connections">
      <LoadedView of={topology}>{(value) => <Connections topology={value} />}</LoadedView>
    </Panel>
  )
}

/** The edges of one node: how many of each kind, and those that are not direct. */
export function Connections({ topology: { edges, nodes } }: { readonly topology: Topology }): VNode {
  const names = new Map(nodes.map(({ node_id: id, display_name: name }) => [id, name]))
  const count = (way: string) => edges.filter((edge) => wayOf(edge) === way).length
  const indirect = edges.filter((edge) => wayOf(edge) !== 'direct')
  if (edges.length === 0) return <Empty>The node sees no other node.</Empty>
  return (
    <>
      <p>
        {counted(edges.length, 'peer')}: {numberText(count('direct'))} direct, {numberText(count('relayed'))} by a relay
        {count('none') > 0 && `, ${numberText(count('none'))} without a session`}.
      </p>
      {indirect.length > 0 && (
        <Table
          caption="Peers that are not reached directly"
          columns={[
            { head: 'Peer', cell: ({ to }: EdgeOf) => <NodeLink id={to} name={names.get(to) ?? to} /> },
            { head: 'Way', cell: (edge: EdgeOf) => WAYS[wayOf(edge)] },
            {
              head: 'Relay',
              cell: ({ relay_node_id: relay }: EdgeOf) =>
                relay === undefined ? '–' : <NodeLink id={relay} name={names.get(relay) ?? relay} />,
            },
            { head: 'Known from', cell: ({ path }: EdgeOf) => (path === null ? 'the plan' : 'a report') },
          ]}
          rows={indirect.slice(0, ROWS_MAX)}
          keyOf={({ to }) => to}
        />
      )}
      {indirect.length > ROWS_MAX && <p class="muted">And {counted(indirect.length - ROWS_MAX, 'peer')} more.</p>}
    </>
  )
}
