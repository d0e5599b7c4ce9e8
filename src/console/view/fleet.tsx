import type { ComponentChildren, VNode } from 'preact'
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
      <LoadedView of={fleet.nodes} what="the nodes">
        {(nodes) => (nodes.length === 0 ? <NoNodes /> : <Glance nodes={nodes} />)}
      </LoadedView>
    </>
  )
}

export function NoNodes(): VNode {
  const { domain, mayReadDomain } = useConsole()
  return (
    <section class="card" aria-labelledby="no-nodes">
      <h2 id="no-nodes">{mayReadDomain ? 'No nodes in this Domain' : 'You may read no node of this Domain'}</h2>
      <Empty
        command={`ctl join-tokens create --domain ${domain.slug}\nctl agent install --server ${location.origin} --join-token-file FILE`}
      >
        To add one, make a join token and give it to the machine.
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
            cell: ({ version, isOther }) =>
              version === null ? (
                <span class="muted">not reported</span>
              ) : (
                <>
                  <code>{version}</code>
                  {isOther && <span class="muted"> (other)</span>}
                </>
              ),
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

/** What is not as it should be. */
function DriftPanel({ nodes }: { readonly nodes: readonly NodeSummary[] }): VNode {
  const { newest, behind, other, rotating } = driftOf(nodes)
  return (
    <Panel title="Not up to date">
      <ul class="checks">
        <Check nodes={behind} words={`an older version than ${newest ?? ''}`} verbs={['runs', 'run']}>
          {newest === null ? (
            'No node reports a version number.'
          ) : (
            <>
              Every node with a version number runs the newest one, <code>{newest}</code>.
            </>
          )}
        </Check>
        {other.length > 0 && (
          <Check nodes={other} words="something else than a version number" verbs={['reports', 'report']} />
        )}
        <Check nodes={rotating} words="for new keys" verbs={['waits', 'wait']}>
          No node waits for new keys.
        </Check>
        <Epochs nodes={nodes} />
      </ul>
    </Panel>
  )
}

interface CheckProps {
  /** Those of which it is true. */
  readonly nodes: readonly NodeSummary[]
  /** What one of them does, and what several do. */
  readonly verbs: readonly [string, string]
  readonly words: string
  /** Shown where there are none. */
  readonly children?: ComponentChildren
}

function Check({ nodes, verbs: [one, several], words, children }: CheckProps): VNode {
  if (nodes.length === 0) return <li>{children}</li>
  return (
    <li>
      <details>
        <summary>
          {counted(nodes.length, 'node')} {nodes.length === 1 ? one : several} {words}
        </summary>
        <NodeLinks nodes={nodes} />
      </details>
    </li>
  )
}
