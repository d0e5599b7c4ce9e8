import type { Frame } from '../../../client/event-stream.ts'
import type { Format } from '../../argv/flags.ts'
import { emit } from '../../output/emit.ts'
import type { Session } from '../../session/session.ts'
import type { FrameVerdict } from './frame-check.ts'
import { COLUMNS, jsonRow, tableRow } from './rows.ts'

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
  { isVerifying }: { readonly isVerifying: boolean },
): Promise<FramePrinter> {
  const { io, shared, style } = session
  const format = await formatOf(session)
  const isTable = (format === 'table' || format === 'wide') && shared.jq === undefined
  const rowOf = isTable ? tableRow : jsonRow
  let titled = shared['no-headers'] === true
  return {
    async print(looked) {
      if (looked.length === 0) return
      const rows = looked.map(({ frame, verdict: { verdict } }) =>
        rowOf(frame, verdict === undefined ? {} : { verdict }),
      )
      const view = { columns: isVerifying ? [...COLUMNS, 'verdict'] : COLUMNS }
      await emit(rows, view, {
        io,
        format,
        style,
        shared: { ...shared, 'no-headers': titled },
        note: (line) => session.note(line),
      })
      titled = true
    },
  }
}

async function formatOf(session: Session): Promise<Format> {
  const { output } = await session.settings()
  if (output.value === 'json') return 'jsonl'
  return output.origin === 'default' && !session.io.stdout.isTty ? 'jsonl' : output.value
}
