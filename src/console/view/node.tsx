import type { VNode } from 'preact'
import type { NodeDetail } from '../api/operations.ts'
import { fragmentOf } from '../model/route.ts'
import { AuditTable } from './audit-table.tsx'
import { useConsole } from './context.ts'
import { EventList } from './event-list.tsx'
import { NodeConnections } from './node-connections.tsx'
import { NodeDue } from './node-due.tsx'
import { NodeExecutions, NodeSessions } from './node-work.tsx'
import { Empty, Facts, Heading, LoadedView, Panel, State, Time } from './parts.tsx'
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
      <LoadedView of={node}>{(detail) => <NodeParts node={detail} />}</LoadedView>
    </>
  )
}

function NodeParts({ node }: { readonly node: NodeDetail }): VNode {
  return (
    <>
      <div class="columns">
        <NodeState node={node} />
        <NodeDue id={node.id} />
      </div>
      <NodeConnections id={node.id} />
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
          ['Endpoint', node.endpoint === null ? 'none known, or stale' : <code>{node.endpoint}</code>],
          ['NAT', node.nat_type],
          ['Labels', labels.length === 0 ? 'none' : labels.map((label) => <span class="label">{label}</span>)],
          ['Keys', node.rotation_pending ? 'waits for new keys' : 'no rotation pending'],
          ['Ephemeral', node.ephemeral ? 'leaves after ten minutes out of reach' : undefined],
          ['Hooks', capabilities === null ? undefined : capabilities.hooks.map(({ name }) => name).join(', ')],
          ['Enrolled', <Time at={node.created_at} />],
          ['Id', <code>{node.id}</code>],
        ]}
      />
    </Panel>
  )
}

function NodeViolations({ id }: { readonly id: string }): VNode {
  const { api, domain } = useConsole()
  const violations = useRead({ key: id, topics: ['violations'] }, async (signal) => {
    const asked = { domain_id: domain.id, node_id: id, limit: '20' }
    return (await api.call('ListDomainIntegrityViolations', asked, signal)).items
  })
  return (
    <Panel title="Violations">
      <LoadedView of={violations}>
        {(rows) => <ViolationTable rows={rows} none="The node has reported no violation of integrity." isOfOneNode />}
      </LoadedView>
    </Panel>
  )
}

/** What happened to the node: events since the page was opened, and the changes that the audit has of it. Reads are left out: this page is one itself. */
function NodeActivity({ id }: { readonly id: string }): VNode {
  const { api, domain, events } = useConsole()
  const rows = useRead({ key: id, topics: ['shown-node'] }, async (signal) => {
    const asked = { domain_id: domain.id, object: `node:${id}`, only: 'writes', limit: '20' } as const
    return (await api.call('GetAudit', asked, signal)).items
  })
  const own = events.filter(({ object }) => object === `node:${id}`)
  return (
    <Panel title="Last events" hint="What happened to the node, and what was changed about it">
      {own.length > 0 && <EventList events={own} />}
      <LoadedView of={rows}>
        {(items) =>
          items.length === 0 ? <Empty>Nothing is on record about this node.</Empty> : <AuditTable rows={items} />
        }
      </LoadedView>
    </Panel>
  )
}
