import type { VNode } from 'preact'
import type { AuditRow } from '../api/operations.ts'
import { Time } from './parts.tsx'
import { Subject } from './subject.tsx'
import { Table } from './table.tsx'

const OUTCOMES: Readonly<Record<AuditRow['outcome'], string>> = {
  granted: 'granted',
  permission_denied: 'denied',
  invariant_violation: 'refused',
  identity_conflict: 'refused',
  not_found: 'not found',
  internal_error: 'error',
}

/** What was decided, and why it was not granted. */
export const outcomeText = ({ outcome, reason }: AuditRow): VNode => (
  <span class={outcome === 'granted' ? undefined : 'refused'}>
    {OUTCOMES[outcome]}
    {outcome !== 'granted' && reason !== outcome && `: ${reason}`}
  </span>
)

const COLUMNS = [
  { head: 'When', cell: ({ at }: AuditRow) => <Time at={at} /> },
  { head: 'Who', cell: ({ subject, subject_name: name }: AuditRow) => <Subject subject={subject} name={name} /> },
  { head: 'Did', cell: ({ relation }: AuditRow) => <code>{relation}</code> },
  { head: 'On', cell: ({ object, object_name: name }: AuditRow) => <Subject subject={object} name={name} /> },
  { head: 'Outcome', cell: outcomeText },
]

/** Audited decisions, as they come. */
export function AuditTable({ rows }: { readonly rows: readonly AuditRow[] }): VNode {
  return <Table caption="Audited decisions, the newest first" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
}
