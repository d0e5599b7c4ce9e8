import type { Frame } from '../../../client/event-stream.ts'
import { createRowStream, streamFormat } from '../../output/row-stream.ts'
import type { Session } from '../../session/session.ts'
import type { FrameVerdict } from './frame-check.ts'
import { jsonRow, type RowView } from './row-view.ts'

export interface LookedAt {
  readonly frame: Frame
  readonly verdict: FrameVerdict
}

export interface FramePrinter {
  print(looked: readonly LookedAt[]): Promise<void>
}

/** Prints frames as rows; the titles of a table once. JSON is a line per frame in either JSON format. */
export async function createFramePrinter(
  session: Session,
  { columns, tableRow }: RowView,
  { isVerifying }: { readonly isVerifying: boolean },
): Promise<FramePrinter> {
  const asked = await streamFormat(session)
  const format = asked === 'json' ? 'jsonl' : asked
  const isTable = (format === 'table' || format === 'wide') && session.shared.jq === undefined
  const rowOf = isTable ? tableRow : jsonRow
  const view = { columns: isVerifying ? [...columns, 'verdict'] : columns }
  const stream = createRowStream(session, format)
  return {
    print: (looked) =>
      stream.print(
        looked.map(({ frame, verdict: { verdict } }) => rowOf(frame, verdict === undefined ? {} : { verdict })),
        view,
      ),
  }
}
