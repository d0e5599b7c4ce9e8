import { shortDuration } from '../argv/duration.ts'
import type { Session } from '../session/session.ts'

/** Counts of long work, shown on stderr while it goes on. */
export interface Progress {
  /** So much is done now; `detail` says where in the work that is. */
  at(done: number, detail?: string): void
  /** Takes the line away. */
  end(): void
}

/** Work that is over sooner is not worth a line. */
const PATIENCE_MS = 700
/** Between two looks on a terminal, and between two lines elsewhere. */
const REDRAW_MS = 100
const LINE_MS = 5000

/**
 * Shows how far work has come: one line redrawn in place on a terminal, one plain line every few seconds elsewhere.
 * Without a total there is no time left to tell.
 */
export function createProgress(session: Session, what: string, total?: number): Progress {
  const { io, shared } = session
  const startedMs = io.nowMs()
  const isTty = io.stderr.isTty
  let shownMs = startedMs + PATIENCE_MS - (isTty ? REDRAW_MS : LINE_MS)
  let isDrawn = false
  return {
    at(done, detail) {
      const nowMs = io.nowMs()
      const isDue = nowMs - shownMs >= (isTty ? REDRAW_MS : LINE_MS) && nowMs - startedMs >= PATIENCE_MS
      if (!isDue || shared.quiet === true) return
      shownMs = nowMs
      const line = progressLine({ what, done, total, detail, seconds: (nowMs - startedMs) / 1000 })
      io.stderr.write(isTty ? `\r\u001b[K${line}` : `${line}\n`)
      isDrawn = isTty
    },
    end() {
      if (isDrawn) io.stderr.write('\r\u001b[K')
    },
  }
}

interface ProgressState {
  readonly what: string
  readonly done: number
  readonly total: number | undefined
  readonly seconds: number
  readonly detail?: string | undefined
}

/** `nodes: 1200 of 5000, 310/s, 12s left, wave 3`. */
export function progressLine({ what, done, total, seconds, detail }: ProgressState): string {
  const rate = seconds > 0 ? done / seconds : 0
  const ofTotal = total === undefined ? '' : ` of ${total}`
  const left = total === undefined || rate === 0 ? '' : `, ${shortDuration((total - done) / rate)} left`
  return `${what}: ${done}${ofTotal}, ${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s${left}${detail === undefined ? '' : `, ${detail}`}`
}
