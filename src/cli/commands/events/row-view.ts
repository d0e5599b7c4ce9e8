import type { Frame } from '../../../client/event-stream.ts'
import { isMembers } from '../../../shared/shapes.ts'
import type { Row } from '../../output/members.ts'

/** What was found out about a frame; absent where nothing was looked at. */
export interface Verdict {
  readonly verdict?: string
}

/** How frames of one kind of stream are shown in a table. */
export interface RowView {
  readonly columns: readonly string[]
  readonly tableRow: (frame: Frame, verdict: Verdict) => Row
}

/** A frame as JSON: its data as the object that it is, where that is the same text again; else as text. */
export function jsonRow({ id, event, data }: Frame, verdict: Verdict): Row {
  const value = parsed(data)
  const isSame = isMembers(value) && JSON.stringify(value) === data
  return { ...(id !== undefined && { id }), event, data: isSame ? value : data, ...verdict }
}

/** The value of a JSON text; undefined where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
