import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { NodeSummary, ReachabilityState } from '../api/operations.ts'
import { STATES } from '../model/fleet.ts'
import { counted } from '../model/format.ts'
import { fragmentOf, type Route } from '../model/route.ts'
import { useConsole } from './context.ts'
import { NoNodes } from './fleet.tsx'
import { NodeView } from './node.tsx'
import { Field, Heading, LoadedView, NodeLink, State, stateWord, Time } from './parts.tsx'
import { Table } from './table.tsx'

const PAGE = 100

/** All nodes of the Domain, or one of them. */
export function NodesView(): VNode {
  const { route, fleet } = useConsole()
  if (route.id !== undefined) return <NodeView key={route.id} id={route.id} />
  return (
    <>
      <Heading>Nodes</Heading>
      <LoadedView of={fleet.nodes}>
        {(nodes) => (nodes.length === 0 ? <NoNodes /> : <NodeList nodes={nodes} />)}
      </LoadedView>
    </>
  )
}

function NodeList({ nodes }: { readonly nodes: readonly NodeSummary[] }): VNode {
  const { route, domain } = useConsole()
  const [shown, setShown] = useState(PAGE)
  const rows = matching(nodes, route.filters)
  const filter = (name: string, value: string): void => {
    const filters = { ...route.filters, [name]: value }
    history.replaceState(null, '', fragmentOf({ domain: domain.slug, view: 'nodes', filters }))
    dispatchEvent(new HashChangeEvent('hashchange'))
  }
  return (
    <>
      <Filters filters={route.filters} onFilter={filter} />
      <section class="card" aria-label="Nodes">
        <p class="muted hint" role="status">
          {rows.length === nodes.length
            ? counted(nodes.length, 'node')
            : `${counted(rows.length, 'node')} of ${nodes.length}`}
        </p>
        <Table caption="Nodes" columns={COLUMNS} rows={rows.slice(0, shown)} keyOf={({ id }) => id} />
        {rows.length > shown && (
          <p class="row">
            <button type="button" class="quiet" onClick={() => setShown(shown + PAGE)}>
              Show more
            </button>
          </p>
        )}
      </section>
    </>
  )
}

const COLUMNS = [
  { head: 'Name', cell: ({ id, display_name: name }: NodeSummary) => <NodeLink id={id} name={name} /> },
  { head: 'State', cell: ({ reachability }: NodeSummary) => <State state={reachability} /> },
  { head: 'Last report', cell: ({ last_heartbeat_at: at }: NodeSummary) => <Time at={at} /> },
  { head: 'Kind', cell: ({ display_kind: kind }: NodeSummary) => kind },
  { head: 'Version', cell: ({ binary_version: version }: NodeSummary) => <code>{version ?? '–'}</code> },
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
