import type { VNode } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { NodeSummary, Topology } from '../api/operations.ts'
import { counted, numberText } from '../model/format.ts'
import { sortedNodes } from '../model/node-order.ts'
import { groupBy, NODES_DRAWN_MAX, RING_MAX, type Way } from '../model/topology.ts'
import { countStates, STATES } from '../model/fleet.ts'
import { useConsole } from './context.ts'
import { NoNodes } from './fleet.tsx'
import { LongTable } from './long-table.tsx'
import { Connections, WAYS } from './node-connections.tsx'
import { Empty, Heading, LoadedView, NodeLink, Panel, Problem, State, StateShape, stateWord } from './parts.tsx'
import { Table } from './table.tsx'
import { NodeGrid } from './topology-grid.tsx'
import { NodeRing } from './topology-ring.tsx'
import type { Loaded } from './use-load.ts'
import { useRead } from './use-read.ts'

const NO_EDGES: Topology['edges'] = []

/** How the nodes of the Domain reach each other, as a picture. */
export function TopologyView(): VNode {
  const { fleet } = useConsole()
  return (
    <>
      <Heading>Topology</Heading>
      <LoadedView of={fleet.nodes} what="the nodes">
        {(nodes) => (nodes.length === 0 ? <NoNodes /> : <Picture nodes={nodes} />)}
      </LoadedView>
    </>
  )
}

function Picture({ nodes }: { readonly nodes: readonly NodeSummary[] }): VNode {
  const [chosen, setChosen] = useState<string | undefined>(undefined)
  const { ref, width } = useWidth()
  const isRing = nodes.length <= RING_MAX
  const topology = useTopology(isRing, chosen)
  const edges = topology.value?.edges ?? NO_EDGES
  const Drawing = isRing ? NodeRing : NodeGrid
  // Two thousand dots are not compared again for each event that leaves them as they are.
  const drawing = useMemo(
    () => width > 0 && <Drawing nodes={nodes} width={width} chosen={chosen} onChoose={setChosen} edges={edges} />,
    [nodes, width, chosen, edges],
  )
  if (nodes.length > NODES_DRAWN_MAX) return <Kinds nodes={nodes} />
  return (
    <>
      <div class="beside">
        <section class="card" aria-label="Picture of the mesh">
          <p class="muted hint">{hintOf(nodes.length)}</p>
          <div ref={ref} class="picture">
            {drawing}
          </div>
          <Legend />
        </section>
        <div class={isRing ? 'picked' : 'picked is-sticky'}>
          <Picked node={nodes.find(({ id }) => id === chosen)} topology={topology} />
        </div>
      </div>
      <NodeTable nodes={nodes} chosen={chosen} onChoose={setChosen} />
    </>
  )
}

interface PickedProps {
  readonly node: NodeSummary | undefined
  readonly topology: Loaded<Topology | undefined>
}

/** The connections of the node that is chosen in the picture or in the table. */
function Picked({ node, topology }: PickedProps): VNode {
  if (node === undefined)
    return (
      <Panel title="Connections">
        <Problem failure={topology.failure} retry={topology.retry} what="the connections" />
        <Empty>Choose a node to see its connections.</Empty>
      </Panel>
    )
  return (
    <Panel title={node.display_name}>
      <p>
        <NodeLink id={node.id} name={`Open ${node.display_name}`} />
      </p>
      <LoadedView of={topology} what="the connections">
        {(value) => value !== undefined && <Connections node={node} topology={value} />}
      </LoadedView>
    </Panel>
  )
}

interface NodeTableProps {
  readonly nodes: readonly NodeSummary[]
  readonly chosen: string | undefined
  readonly onChoose: (id: string) => void
}

/** The nodes of the picture as a table, for people who do not see it, or look for a name. */
function NodeTable({ nodes, chosen, onChoose }: NodeTableProps): VNode {
  const rows = useMemo(() => sortedNodes(nodes, { by: 'name', isDescending: false }), [nodes])
  return (
    <Panel title="Nodes in the picture">
      <LongTable
        caption="Nodes in the picture, by name"
        columns={[
          { head: 'Node', cell: ({ id, display_name: name }: NodeSummary) => <NodeLink id={id} name={name} /> },
          { head: 'State', cell: ({ reachability }: NodeSummary) => <State state={reachability} /> },
          { head: 'Kind', cell: ({ display_kind: kind }: NodeSummary) => kind },
          {
            head: 'Connections',
            cell: ({ id, display_name: name }: NodeSummary) => (
              <button
                type="button"
                class="quiet"
                aria-pressed={id === chosen}
                aria-label={`Show the connections of ${name}`}
                onClick={() => onChoose(id)}
              >
                Show
              </button>
            ),
          },
        ]}
        rows={rows}
        keyOf={({ id }) => id}
      />
    </Panel>
  )
}

const hintOf = (count: number): string =>
  count <= RING_MAX
    ? `${counted(count, 'node')}. A line joins two nodes that reach each other.`
    : `${counted(count, 'node')}, by kind. Lines go from the chosen node to those that it does not reach directly.`

/** All edges of a small Domain; of a larger one those of the chosen node. */
function useTopology(isRing: boolean, chosen: string | undefined): Loaded<Topology | undefined> {
  const { api, domain } = useConsole()
  const nodeId = isRing ? undefined : chosen
  return useRead<Topology | undefined>(
    { key: `${domain.id} ${nodeId ?? String(isRing)}`, topics: ['mesh'], isOfDomain: true },
    async (signal) => {
      if (!isRing && nodeId === undefined) return undefined
      const asked = { domain_id: domain.id, ...(nodeId !== undefined && { node_id: nodeId }) }
      return api.call('GetDomainMeshTopology', asked, signal)
    },
  )
}

/** The width of an element, in px, as it changes; 0 before it is laid out. */
function useWidth(): { readonly ref: { current: HTMLDivElement | null }; readonly width: number } {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const { current } = ref
    if (current === null) return undefined
    const observer = new ResizeObserver(() => setWidth(current.clientWidth))
    observer.observe(current)
    setWidth(current.clientWidth)
    return () => observer.disconnect()
  }, [])
  return { ref, width }
}

const WAYS_SHOWN = Object.keys(WAYS) as Way[]

function Legend(): VNode {
  return (
    <ul class="legend">
      {STATES.map((state) => (
        <li key={state} class="state">
          <StateShape state={state} />
          {stateWord(state)}
        </li>
      ))}
      {WAYS_SHOWN.map((way) => (
        <li key={way} class="state">
          <svg class="way" viewBox="0 0 28 12" width="28" height="12" aria-hidden="true">
            <path class={`edge is-${way}`} d="M1 6H27" />
          </svg>
          {WAYS[way]}
        </li>
      ))}
    </ul>
  )
}

/** A Domain that is too large for a picture of single nodes. */
function Kinds({ nodes }: { readonly nodes: readonly NodeSummary[] }): VNode {
  const kinds = [...groupBy(nodes, ({ display_kind: kind }) => kind)].map(([kind, all]) => ({
    kind,
    all,
    counts: countStates(all),
  }))
  type Row = (typeof kinds)[number]
  return (
    <section class="card" aria-label="Nodes by kind">
      <p class="muted hint">
        {counted(nodes.length, 'node')}. More than {numberText(NODES_DRAWN_MAX)} are not drawn one by one; the page of a
        node shows its connections.
      </p>
      <Table
        caption="Nodes by kind and reachability"
        columns={[
          { head: 'Kind', cell: ({ kind }: Row) => kind },
          { head: 'Nodes', cell: ({ all }: Row) => numberText(all.length), isNumber: true },
          ...STATES.map((state) => ({
            head: stateWord(state),
            cell: ({ counts }: Row) => numberText(counts[state]),
            isNumber: true as const,
          })),
        ]}
        rows={kinds}
        keyOf={({ kind }) => kind}
      />
    </section>
  )
}
