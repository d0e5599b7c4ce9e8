import type { Frame } from '../../../client/event-stream.ts'
import { isMembers } from '../../../shared/shapes.ts'
import type { Row } from '../../output/members.ts'
import { parsed, type RowView, type Verdict } from './row-view.ts'

/** Events of a Domain as a table. */
export const DOMAIN_ROWS: RowView = { columns: ['id', 'at', 'type', 'object', 'more'], tableRow }

/** The time of day: "3s ago" would be wrong a moment later. What the event says is taken at its word. */
function tableRow({ id, event, data }: Frame, verdict: Verdict): Row {
  const value: unknown = parsed(data)
  const envelope = isMembers(value) ? value : {}
  const { object, ...more } = isMembers(envelope['payload']) ? envelope['payload'] : {}
  const at = textOf(envelope['occurred_at']).slice(11, 19)
  return { id, at, type: event, object, more: moreText(more), ...verdict }
}

function moreText({ from, to, ...ids }: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(ids).map(([name, value]) => `${name} ${textOf(value)}`)
  return [...(from === undefined ? [] : [`${textOf(from)} to ${textOf(to)}`]), ...parts].join(', ')
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
