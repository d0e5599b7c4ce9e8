import type { VNode } from 'preact'
import type { NodeStateSnapshot } from '../api/operations.ts'
import { bridgeReport } from '../model/bridge-report.ts'
import { counted, shortened } from '../model/format.ts'
import { useConsole } from './context.ts'
import { Facts, LoadedView, Panel, Time } from './parts.tsx'
import { useRead } from './use-read.ts'

/** The snapshot has an entry for each peer of the node, and the server computes a key for each. */
const APART_MS = 30_000

/** What the node is to do, as the server gives it, and what the node reports of it. */
export function NodeDue({ id }: { readonly id: string }): VNode {
  const { api } = useConsole()
  const state = useRead({ key: id, topics: ['shown-node'], apartMs: APART_MS }, (signal) =>
    api.call('GetNodeState', { id }, signal),
  )
  return (
    <Panel title="What the node should run" hint="As the server gives it, with what the node reports of it">
      <LoadedView of={state} what="what the node should run">
        {(snapshot) => typeof snapshot === 'object' && <Due id={id} snapshot={snapshot} />}
      </LoadedView>
    </Panel>
  )
}

function Due({ id, snapshot }: { readonly id: string; readonly snapshot: NodeStateSnapshot }): VNode {
  const { peers, policy, bridge, executions, sessions, 'state/reports': reports } = snapshot
  const keys = Object.keys(reports)
  return (
    <Facts
      facts={[
        ['Other nodes', counted(peers.length, 'node')],
        ['Keys', <Keys id={id} />],
        [
          'Policies',
          policy.policies.length === 0 ? 'none applies to this node' : <Policies policies={policy.policies} />,
        ],
        ['Bridges', bridge.resources.length === 0 ? 'none' : <Bridges bridges={bridge.resources} reports={reports} />],
        [
          'Executions',
          executions.length === 0 ? 'none is waiting or running' : counted(executions.length, 'open execution'),
        ],
        ['Sessions', sessions.length === 0 ? 'none at the moment' : counted(sessions.length, 'live session')],
        ['Reports', keys.length === 0 ? 'none' : keys.map((key) => <code class="label">{key}</code>)],
      ]}
    />
  )
}

/** Whether the node has the keys of its edges that the server has. */
function Keys({ id }: { readonly id: string }): VNode {
  const { api, domain } = useConsole()
  const { value, failure } = useRead({ key: id, topics: ['mesh'], apartMs: APART_MS, isOfDomain: true }, (signal) =>
    api.call('VerifyDomainEdgeEpochs', { domain_id: domain.id, body: { node_ids: [id] } }, signal),
  )
  if (failure !== undefined) return <>not compared: {failure.message}</>
  if (value === undefined) return <span class="muted">comparing …</span>
  const [fault] = value.disagreeing
  return <>{fault === undefined ? 'the node has the keys that the server expects' : FAULTS[fault.reason]}</>
}

const FAULTS = {
  not_reported: 'the node has not reported its keys',
  malformed: 'the node reported its keys in a form that the server does not know',
  count_differs: 'the node has more or fewer keys than the server expects',
  epochs_differ: 'the node has other keys than the server expects',
} as const

/** Revisions in force. Agents do not report which ones they apply. */
function Policies({ policies }: { readonly policies: NodeStateSnapshot['policy']['policies'] }): VNode {
  return (
    <ul class="list">
      {policies.map(({ policy_id: id, revision_id: revision, rules }) => (
        <li key={id}>
          <code title={id}>{shortened(id)}</code>, revision <code title={revision}>{shortened(revision)}</code>,{' '}
          {counted(rules.length, 'rule')}
        </li>
      ))}
    </ul>
  )
}

interface BridgesProps {
  readonly bridges: NodeStateSnapshot['bridge']['resources']
  readonly reports: NodeStateSnapshot['state/reports']
}

function Bridges({ bridges, reports }: BridgesProps): VNode {
  return (
    <ul class="list">
      {bridges.map(({ bridge_resource_id: id }) => (
        <li key={id}>
          <code title={id}>{shortened(id)}</code>: <Applied report={reports[`bridge.${id}`]} />
        </li>
      ))}
    </ul>
  )
}

function Applied({ report }: { readonly report: unknown }): VNode {
  const { appliedAt, error } = bridgeReport(report)
  if (error !== undefined) return <span class="refused">not applied: {error}</span>
  if (appliedAt === undefined) return <>not reported as applied</>
  return (
    <>
      applied <Time at={appliedAt} />
    </>
  )
}
