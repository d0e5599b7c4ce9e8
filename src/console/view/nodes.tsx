import type { VNode } from 'preact'
import type { NodeSummary, ReachabilityState } from '../api/operations.ts'
import { STATES } from '../model/fleet.ts'
import { counted } from '../model/format.ts'
import { NODE_ORDERS, nextOrder, nodeOrder, sortedNodes } from '../model/node-order.ts'
import { fragmentOf, type Route } from '../model/route.ts'
import { useConsole } from './context.ts'
import { NoNodes } from './fleet.tsx'
import { LongTable } from './long-table.tsx'
import { NodeView } from './node.tsx'
import { Field, Heading, LoadedView, NodeLink, State, stateWord, Time } from './parts.tsx'

/** All nodes of the Domain, or one of them. */
export function NodesView(): VNode {
  const { route, fleet } = useConsole()
  if (route.id !== undefined) return <NodeView key={route.id} id={route.id} />
  return (
    <>
      <Heading>Nodes</Heading>
      <LoadedView of={fleet.nodes} what="the nodes">
        {(nodes) => (nodes.length === 0 ? <NoNodes /> : <NodeList nodes={nodes} />)}
      </LoadedView>
    </>
  )
}

function NodeList({ nodes }: { readonly nodes: readonly NodeSummary[] }): VNode {
  const { route, domain } = useConsole()
  const order = nodeOrder(route.filters['sort'])
  const rows = sortedNodes(matching(nodes, route.filters), order)
  const change = (name: string, value: string): void => {
    const filters = { ...route.filters, [name]: value }
    history.replaceState(null, '', fragmentOf({ domain: domain.slug, view: 'nodes', filters }))
    dispatchEvent(new HashChangeEvent('hashchange'))
  }
  const onSort = (key: string): void => {
    const by = NODE_ORDERS.find((each) => each === key)
    if (by !== undefined) change('sort', nextOrder(order, by))
  }
  return (
    <>
      <Filters filters={route.filters} onFilter={change} />
      <section class="card" aria-label="Nodes">
        <p class="muted hint" role="status">
          {rows.length === nodes.length
            ? counted(nodes.length, 'node')
            : `${counted(rows.length, 'node')} of ${nodes.length}`}
        </p>
        {rows.length === 0 ? (
          <NoMatch />
        ) : (
          <LongTable
            caption="Nodes"
            columns={COLUMNS}
            rows={rows}
            keyOf={({ id }) => id}
            sorting={{ ...order, onSort }}
          />
        )}
      </section>
    </>
  )
}

function NoMatch(): VNode {
  const { domain } = useConsole()
  return (
    <div class="empty">
      <p>No node matches these filters.</p>
      <p>
        <a href={fragmentOf({ domain: domain.slug, view: 'nodes' })}>Show all nodes</a>
      </p>
    </div>
  )
}

const COLUMNS = [
  {
    head: 'Name',
    sortKey: 'name',
    cell: ({ id, display_name: name }: NodeSummary) => <NodeLink id={id} name={name} />,
  },
  { head: 'State', sortKey: 'state', cell: ({ reachability }: NodeSummary) => <State state={reachability} /> },
  { head: 'Last report', sortKey: 'seen', cell: ({ last_heartbeat_at: at }: NodeSummary) => <Time at={at} /> },
  { head: 'Kind', cell: ({ display_kind: kind }: NodeSummary) => kind },
  {
    head: 'Version',
    sortKey: 'version',
    cell: ({ binary_version: version }: NodeSummary) => <code>{version ?? '–'}</code>,
  },
  { head: 'Mesh address', cell: ({ mesh_address: address }: NodeSummary) => <code>{address}</code> },
]

interface FiltersProps {
  readonly filters: Route['filters']
  readonly onFilter: (name: string, value: string) => void
}

function Filters({ filters, onFilter }: FiltersProps): VNode {
  return (
    <form class="filters" role="search" aria-label="Filter nodes" onSubmit={(event) => event.preventDefault()}>
      <Field id="nodes-text" label="Name, address or label">
        <input
          id="nodes-text"
          type="search"
          autocomplete="off"
          spellcheck={false}
          maxLength={128}
          value={filters['text'] ?? ''}
          onInput={({ currentTarget }) => onFilter('text', currentTarget.value)}
        />
      </Field>
      <Field id="nodes-state" label="State">
        <select
          id="nodes-state"
          value={filters['reachability'] ?? ''}
          onChange={({ currentTarget }) => onFilter('reachability', currentTarget.value)}
        >
          <option value="">All</option>
          {STATES.map((state: ReachabilityState) => (
            <option key={state} value={state}>
              {stateWord(state)}
            </option>
          ))}
        </select>
      </Field>
    </form>
  )
}

function matching(nodes: readonly NodeSummary[], filters: Route['filters']): readonly NodeSummary[] {
  const text = (filters['text'] ?? '').trim().toLowerCase()
  const state = filters['reachability'] ?? ''
  const ofState = state === '' ? nodes : nodes.filter(({ reachability }) => reachability === state)
  return text === '' ? ofState : ofState.filter((node) => textOf(node).includes(text))
}

function textOf({ display_name: name, mesh_address: address, endpoint, labels }: NodeSummary): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`)
  return [name, address, endpoint ?? '', ...pairs].join(' ').toLowerCase()
}
