import type { VNode } from 'preact'
import type { NodeSummary } from '../api/operations.ts'
import { countStates, countVersions, driftOf, outOfReach, STATES } from '../model/fleet.ts'
import { counted, numberText } from '../model/format.ts'
import { fragmentOf } from '../model/route.ts'
import { useConsole } from './context.ts'
import { Epochs } from './epochs.tsx'
import { EventList } from './event-list.tsx'
import { NodeLinks } from './fleet-links.tsx'
import { Empty, Heading, LoadedView, NodeLink, Panel, State, StateShape, stateWord, Time } from './parts.tsx'
import { ReachabilityChart } from './reachability-chart.tsx'
import { Table } from './table.tsx'

/** The fleet at a glance. */
export function FleetView(): VNode {
  const { fleet, domain } = useConsole()
  return (
    <>
      <Heading>{domain.display_name}</Heading>
      <LoadedView of={fleet.nodes}>
        {(nodes) => (nodes.length === 0 ? <NoNodes /> : <Glance nodes={nodes} />)}
      </LoadedView>
    </>
  )
}

export function NoNodes(): VNode {
  const { domain } = useConsole()
  return (
    <section class="card">
      <Empty
        command={`ctl join-tokens create --domain ${domain.slug}\nctl agent install --server ${location.origin} --join-token-file FILE`}
      >
        No node has joined this Domain, or you may read none. To add one, make a join token and give it to the machine.
      </Empty>
    </section>
  )
}

function Glance({ nodes }: { readonly nodes: readonly NodeSummary[] }): VNode {
  return (
    <>
      <StateCounts nodes={nodes} />
      <div class="columns">
        <ReachabilityChart />
        <Versions nodes={nodes} />
      </div>
      <div class="columns">
        <Attention nodes={nodes} />
        <DriftPanel nodes={nodes} />
      </div>
      <JustHappened />
    </>
  )
}

function JustHappened(): VNode | null {
  const { events } = useConsole()
  if (events.length === 0) return null
  return (
    <Panel title="Just now" hint="Events of the Domain since this page was opened">
      <EventList events={events} />
    </Panel>
  )
}

function StateCounts({ nodes }: { readonly nodes: readonly NodeSummary[] }): VNode {
  const { domain } = useConsole()
  const counts = countStates(nodes)
  return (
    <ul class="tiles" aria-label={`Reachability of ${counted(nodes.length, 'node')}`}>
      {STATES.map((state) => (
        <li key={state}>
          <a class="tile" href={fragmentOf({ domain: domain.slug, view: 'nodes', filters: { reachability: state } })}>
            <span class="tile-count">{numberText(counts[state])}</span>
            <span class="state">
              <StateShape state={state} />
              {stateWord(state)}
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}

function Versions({ nodes }: { readonly nodes: readonly NodeSummary[] }): VNode {
  return (
    <Panel title="Versions" hint={`What ${counted(nodes.length, 'node')} run`}>
      <Table
        caption="Versions of the agent"
        columns={[
          {
            head: 'Version',
            cell: ({ version }) =>
              version === null ? <span class="muted">not reported</span> : <code>{version}</code>,
          },
          { head: 'Nodes', cell: ({ nodes: count }) => numberText(count), isNumber: true },
          { head: 'Share', cell: ({ nodes: count }) => <Share part={count / nodes.length} /> },
        ]}
        rows={countVersions(nodes).slice(0, 12)}
        keyOf={({ version }) => version ?? ''}
      />
    </Panel>
  )
}

/** A part of a whole as a bar with its number. */
export function Share({ part }: { readonly part: number }): VNode {
  return (
    <span class="share">
      <span class="share-bar" aria-hidden="true">
        <span style={{ width: `${Math.min(100, part * 100)}%` }} />
      </span>
      {percentText(part)}
    </span>
  )
}

const percentText = (part: number): string => (part > 0 && part < 0.01 ? '<1 %' : `${Math.round(part * 100)} %`)

const SHOWN_MAX = 8

function Attention({ nodes }: { readonly nodes: readonly NodeSummary[] }): VNode {
  const lost = outOfReach(nodes)
  return (
    <Panel
      title="Out of reach"
      hint={lost.length === 0 ? undefined : `${counted(lost.length, 'node')}, the longest first`}
    >
      {lost.length === 0 ? (
        <Empty>Every node that ever reported reports in time.</Empty>
      ) : (
        <Table
          caption="Nodes out of reach"
          columns={[
            { head: 'Node', cell: ({ id, display_name: name }) => <NodeLink id={id} name={name} /> },
            { head: 'State', cell: ({ reachability }) => <State state={reachability} /> },
            { head: 'Last report', cell: ({ last_heartbeat_at: at }) => <Time at={at} /> },
          ]}
          rows={lost.slice(0, SHOWN_MAX)}
          keyOf={({ id }) => id}
        />
      )}
    </Panel>
  )
}

function DriftPanel({ nodes }: { readonly nodes: readonly NodeSummary[] }): VNode {
  const { newest, behind, rotating } = driftOf(nodes)
  return (
    <Panel title="Drift">
      <ul class="checks">
        <li>
          {behind.length === 0 ? (
            <>
              Every node that names a version runs the newest one
              {newest !== null && (
                <>
                  , <code>{newest}</code>
                </>
              )}
              .
            </>
          ) : (
            <details>
              <summary>
                {counted(behind.length, 'node')} {behind.length === 1 ? 'runs' : 'run'} an older version than {newest}
              </summary>
              <NodeLinks nodes={behind} />
            </details>
          )}
        </li>
        <li>
          {rotating.length === 0 ? (
            <>No node waits for new keys.</>
          ) : (
            <details>
              <summary>
                {counted(rotating.length, 'node')} {rotating.length === 1 ? 'waits' : 'wait'} for new keys
              </summary>
              <NodeLinks nodes={rotating} />
            </details>
          )}
        </li>
        <Epochs nodes={nodes} />
      </ul>
    </Panel>
  )
}
