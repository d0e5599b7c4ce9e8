import type { VNode } from 'preact'
import type { Failure } from '../api/failure.ts'
import type { NodeDetail } from '../api/operations.ts'
import { fragmentOf } from '../model/route.ts'
import { useConsole } from './context.ts'
import { NodeActivity } from './node-activity.tsx'
import { NodeConnections } from './node-connections.tsx'
import { NodeDue } from './node-due.tsx'
import { NodeExecutions, NodeSessions } from './node-work.tsx'
import { Facts, Heading, LoadedView, NodeLink, Panel, State, Time } from './parts.tsx'
import { useRead } from './use-read.ts'
import { ViolationTable } from './violation-table.tsx'

/** One node: what it is, how it is reached, and what happened on it. */
export function NodeView({ id }: { readonly id: string }): VNode {
  const { api, domain } = useConsole()
  const node = useRead({ key: id, topics: ['shown-node'] }, (signal) => api.call('GetNode', { id }, signal))
  return (
    <>
      <p class="back">
        <a href={fragmentOf({ domain: domain.slug, view: 'nodes' })}>All nodes</a>
      </p>
      <Heading note={node.value && <State state={node.value.reachability} />}>{node.value?.name ?? 'Node'}</Heading>
      {isUnknown(node.failure) ? (
        <UnknownNode id={id} />
      ) : (
        <LoadedView of={node} what="the node">
          {(detail) => <NodeParts node={detail} />}
        </LoadedView>
      )}
    </>
  )
}

/** The API does not disclose whether a node that a person may not read exists. */
const isUnknown = (failure: Failure | undefined): boolean => failure !== undefined && UNKNOWN.has(failure.status)

const UNKNOWN: ReadonlySet<number> = new Set([400, 403, 404])

/** An address that names no node that the person may read, or a node by its name. */
function UnknownNode({ id }: { readonly id: string }): VNode {
  const { domain, fleet } = useConsole()
  const named = fleet.nodes.value?.find(({ display_name: name }) => name === id)
  return (
    <div class="notice" role="alert">
      <p>
        There is no node with the id “{id}” in {domain.display_name}, or you may not read it.
      </p>
      <p>
        {named === undefined ? (
          <>
            It may have left. Look for it among{' '}
            <a href={fragmentOf({ domain: domain.slug, view: 'nodes' })}>all nodes</a>.
          </>
        ) : (
          <>
            A node has that name: <NodeLink id={named.id} name={`open ${named.display_name}`} />
          </>
        )}
      </p>
    </div>
  )
}

function NodeParts({ node }: { readonly node: NodeDetail }): VNode {
  return (
    <>
      <div class="columns">
        <NodeState node={node} />
        <NodeDue id={node.id} />
      </div>
      <NodeConnections node={node} />
      <NodeViolations id={node.id} />
      <div class="columns">
        <NodeExecutions id={node.id} />
        <NodeSessions id={node.id} projectId={node.project_id} />
      </div>
      <NodeActivity id={node.id} />
    </>
  )
}

function NodeState({ node }: { readonly node: NodeDetail }): VNode {
  const { capabilities } = node
  const labels = Object.entries(node.labels).map(([key, value]) => `${key}=${value}`)
  return (
    <Panel title="State">
      <Facts
        facts={[
          ['Reachability', <State state={node.reachability} />],
          ['Last report', <Time at={node.last_heartbeat_at} />],
          ['Kind', node.kind],
          ['Version', node.binary_version],
          ['Mesh address', <code>{node.mesh_address}</code>],
          ['Endpoint', node.endpoint === null ? 'not known, or out of date' : <code>{node.endpoint}</code>],
          ['NAT type', node.nat_type],
          ['Labels', labels.length === 0 ? 'none' : labels.map((label) => <span class="label">{label}</span>)],
          ['Keys', node.rotation_pending ? 'waits for new keys' : 'up to date'],
          ['Temporary', node.ephemeral ? 'leaves after ten minutes out of reach' : undefined],
          [
            'Hooks it can run',
            capabilities === null ? undefined : capabilities.hooks.map(({ name }) => name).join(', '),
          ],
          ['Joined', <Time at={node.created_at} />],
          ['Id', <code>{node.id}</code>],
        ]}
      />
    </Panel>
  )
}

function NodeViolations({ id }: { readonly id: string }): VNode {
  const { api, domain } = useConsole()
  const violations = useRead({ key: id, topics: ['violations'], isOfDomain: true }, async (signal) => {
    const asked = { domain_id: domain.id, node_id: id, limit: '20' }
    return (await api.call('ListDomainIntegrityViolations', asked, signal)).items
  })
  return (
    <Panel title="Violations">
      <LoadedView of={violations} what="the violations">
        {(rows) => <ViolationTable rows={rows} none="The node has reported no violation of integrity." isOfOneNode />}
      </LoadedView>
    </Panel>
  )
}
