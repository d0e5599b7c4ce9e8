import type { VNode } from 'preact'
import type { AuditRow } from '../api/operations.ts'
import type { SeenEvent } from '../model/domain-event.ts'
import { outcomeText } from './audit-table.tsx'
import { useConsole } from './context.ts'
import { Empty, LoadedView, Panel, Time } from './parts.tsx'
import { Subject } from './subject.tsx'
import { Table } from './table.tsx'
import { useRead } from './use-read.ts'

const ROWS_MAX = 20

/** Something that happened to a node, or that was changed about it. */
type Happening = { readonly event: SeenEvent } | { readonly decision: AuditRow }

/**
 * What happened to the node: events since the page was opened, and the changes that the audit has of it, in one table. Reads are left
 * out: this page is one itself.
 */
export function NodeActivity({ id }: { readonly id: string }): VNode {
  const { api, domain, events } = useConsole()
  const rows = useRead({ key: id, topics: ['shown-node'] }, async (signal) => {
    const asked = { domain_id: domain.id, object: `node:${id}`, only: 'writes', limit: String(ROWS_MAX) } as const
    return (await api.call('GetAudit', asked, signal)).items
  })
  const all = happenings(
    events.filter(({ object }) => object === `node:${id}`),
    rows.value ?? [],
  )
  return (
    <Panel title="Last events" hint="What happened to the node, and what was changed about it">
      <LoadedView of={rows} what="the last events">
        {() => all.length === 0 && <Empty>Nothing is on record about this node.</Empty>}
      </LoadedView>
      {all.length > 0 && (
        <Table caption="Last events of the node, the newest first" columns={COLUMNS} rows={all} keyOf={keyOf} />
      )}
    </Panel>
  )
}

/** Events and decisions together, the newest first. */
function happenings(events: readonly SeenEvent[], decisions: readonly AuditRow[]): readonly Happening[] {
  const all = [...events.map((event) => ({ event })), ...decisions.map((decision) => ({ decision }))]
  return all.toSorted((a, b) => Date.parse(atOf(b)) - Date.parse(atOf(a))).slice(0, ROWS_MAX)
}

const atOf = (row: Happening): string => ('event' in row ? row.event.at : row.decision.at)

const keyOf = (row: Happening): string => ('event' in row ? `event ${row.event.id}` : `decision ${row.decision.id}`)

const COLUMNS = [
  { head: 'When', cell: (row: Happening) => <Time at={atOf(row)} /> },
  {
    head: 'What',
    cell: (row: Happening) => <code>{'event' in row ? row.event.type : row.decision.relation}</code>,
  },
  { head: 'Who', cell: whoOf },
  {
    head: 'Outcome',
    cell: (row: Happening) =>
      'event' in row ? row.event.change.replaceAll('_', ' ') || 'happened' : outcomeText(row.decision),
  },
]

function whoOf(row: Happening): VNode {
  if ('event' in row) return <>–</>
  const { subject, subject_name: name } = row.decision
  return <Subject subject={subject} name={name} />
}
