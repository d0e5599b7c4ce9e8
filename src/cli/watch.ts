import { usageError } from './cli-error.ts'
import { parseDuration } from './duration.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import type { Session } from './session.ts'

/** Seconds between two looks when nothing is said, and the fewest that are allowed. */
const USUAL_SECONDS = 2
const FEWEST_SECONDS = 0.2

/** Shows the same thing again and again until Ctrl-C: in place on a terminal, one after the other elsewhere. */
export async function watch(session: Session, run: () => Promise<ExitCode | undefined | void>): Promise<ExitCode> {
  const { io, shared } = session
  const seconds = shared.watch === '' || shared.watch === undefined ? USUAL_SECONDS : parseDuration(shared.watch)
  if (seconds === undefined || seconds < FEWEST_SECONDS)
    throw usageError('--watch needs a duration of at least 0.2s, such as --watch=5s')
  while (!io.interrupted.aborted) {
    if (io.stdout.isTty) io.stdout.write('\u001b[H\u001b[J')
    try {
      await run()
    } catch (error) {
      if (!io.interrupted.aborted) throw error
      break
    }
    await io.sleep(seconds * 1000)
  }
  return EXIT.interrupted
}
