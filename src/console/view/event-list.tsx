import type { VNode } from 'preact'
import type { SeenEvent } from '../model/domain-event.ts'
import { Time } from './parts.tsx'
import { Subject } from './subject.tsx'
import { Table } from './table.tsx'

const SHOWN_MAX = 10

const COLUMNS = [
  { head: 'When', cell: ({ at }: SeenEvent) => <Time at={at} /> },
  { head: 'Event', cell: ({ type }: SeenEvent) => <code>{type}</code> },
  { head: 'On', cell: ({ object }: SeenEvent) => <Subject subject={object} /> },
  { head: 'Change', cell: ({ change }: SeenEvent) => change.replaceAll('_', ' ') || '–' },
]

/** The newest events that the page has seen on the stream of the Domain. */
export function EventList({ events }: { readonly events: readonly SeenEvent[] }): VNode {
  return (
    <Table
      caption="Events that this page has seen, the newest first"
      columns={COLUMNS}
      rows={events.toReversed().slice(0, SHOWN_MAX)}
      keyOf={({ id }) => id}
    />
  )
}
