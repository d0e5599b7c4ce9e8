import { dashboardLines, progressRecord, type Progress } from './dashboard.ts'
import type { Summary } from './statistics.ts'
import type { Session } from '../session/session.ts'

/** Redraws in place on a terminal; elsewhere one JSON line every few seconds. */
export function createDisplay({ io, shared: { quiet } }: Session) {
  const { stderr } = io
  const LINES_EVERY = 5
  let drawnLines = 0
  let calls = 0
  const erase = (): string => (drawnLines === 0 ? '' : `\u001b[${drawnLines}A\u001b[0J`)
  return {
    show(progress: Progress, summary: Summary): void {
      if (quiet === true || (!stderr.isTty && !hasProgress(progress, summary))) return
      if (stderr.isTty) {
        // Lines above the screen cannot be erased. The last line is for the cursor.
        const lines = dashboardLines(progress, summary)
          .slice(0, stderr.rows - 1)
          .map((line) => line.slice(0, stderr.columns - 1))
        stderr.write(`${erase()}${lines.join('\n')}\n`)
        drawnLines = lines.length
      } else if (calls++ % LINES_EVERY === 0) stderr.write(`${JSON.stringify(progressRecord(progress, summary))}\n`)
    },
    finish(): void {
      if (drawnLines > 0) stderr.write(erase())
    },
  }
}

/** False before the first answer, and at the end of a run without any, which fails with an error. */
function hasProgress({ phase }: Progress, { counts, operations }: Summary): boolean {
  return operations.length > 0 || (phase !== 'done' && Object.values(counts).some((count) => count > 0))
}
