import type { VNode } from 'preact'
import type { Execution, MediatedSession } from '../api/operations.ts'
import { useConsole } from './context.ts'
import { Empty, LoadedView, Panel, Time } from './parts.tsx'
import { Subject } from './subject.tsx'
import { Table } from './table.tsx'
import { useRead } from './use-read.ts'

/** What the node was asked to run. */
export function NodeExecutions({ id }: { readonly id: string }): VNode {
  const { api } = useConsole()
  const executions = useRead(
    { key: id, topics: ['shown-node'] },
    async (signal) => (await api.call('ListExecutions', { id, limit: '10' }, signal)).items,
  )
  return (
    <Panel title="Executions">
      <LoadedView of={executions} what="the executions">
        {(rows) =>
          rows.length === 0 ? (
            <Empty command={`ctl executions create ${id} ping`}>The node was asked to run nothing.</Empty>
          ) : (
            <Table
              caption="Executions, the newest first"
              columns={EXECUTION_COLUMNS}
              rows={rows}
              keyOf={({ execution_id: key }) => key}
            />
          )
        }
      </LoadedView>
    </Panel>
  )
}

const EXECUTION_COLUMNS = [
  { head: 'Action', cell: ({ action }: Execution) => <code>{action}</code> },
  { head: 'Status', cell: ({ status, error }: Execution) => (error === null ? status : `${status}: ${error}`) },
  { head: 'Requested', cell: ({ requested_at: at }: Execution) => <Time at={at} /> },
  { head: 'By', cell: ({ requested_by: by }: Execution) => <Subject subject={by} /> },
]

/** Who is connected through the node now. */
export function NodeSessions({ id, projectId }: { readonly id: string; readonly projectId: string | null }): VNode {
  const { api } = useConsole()
  const sessions = useRead({ key: `${id} ${projectId ?? ''}`, topics: ['shown-node'] }, async (signal) => {
    if (projectId === null) return []
    const { items } = await api.call('ListMediatedSessions', { project_id: projectId, limit: '200' }, signal)
    return items.filter(({ node_id: nodeId }) => nodeId === id)
  })
  return (
    <Panel title="Sessions">
      <LoadedView of={sessions} what="the sessions">
        {(rows) =>
          rows.length === 0 ? (
            <Empty>
              {projectId === null
                ? 'The node is in no Project, so there are no sessions through it.'
                : 'There are no live sessions through this node.'}
            </Empty>
          ) : (
            <Table
              caption="Live sessions through this node"
              columns={SESSION_COLUMNS}
              rows={rows}
              keyOf={({ session_id: key }) => key}
            />
          )
        }
      </LoadedView>
    </Panel>
  )
}

const SESSION_COLUMNS = [
  { head: 'Issued by', cell: ({ issued_by: by }: MediatedSession) => <Subject subject={by} /> },
  { head: 'Issued', cell: ({ issued_at: at }: MediatedSession) => <Time at={at} /> },
  { head: 'Ends', cell: ({ expires_at: at }: MediatedSession) => <Time at={at} /> },
]
