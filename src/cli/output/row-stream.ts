import type { Format } from '../argv/flags.ts'
import type { Session } from '../session/session.ts'
import { emit, type View } from './emit.ts'

/** Prints rows that arrive over time. */
export interface RowStream {
  /** Prints rows below those before; the column titles precede the first ones only. */
  print(rows: readonly unknown[], view: View): Promise<void>
}

/** The format of a command that prints until it is stopped: JSON lines where nothing else is asked for and stdout is no terminal. */
export async function streamFormat(session: Session): Promise<Format> {
  const { output } = await session.settings()
  return output.origin === 'default' && !session.io.stdout.isTty ? 'jsonl' : output.value
}

export function createRowStream(session: Session, format: Format): RowStream {
  const { io, shared, style } = session
  let isTitled = shared['no-headers'] === true
  return {
    async print(rows, view) {
      if (rows.length === 0) return
      await emit(rows, view, {
        io,
        format,
        style,
        shared: { ...shared, 'no-headers': isTitled },
        note: (line) => session.note(line),
      })
      isTitled = true
    },
  }
}
