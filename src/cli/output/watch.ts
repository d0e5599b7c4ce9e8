import { usageError } from '../errors/cli-error.ts'
import { parseDuration } from '../argv/duration.ts'
import { EXIT, type ExitCode } from '../errors/exit-code.ts'
import type { SharedValues } from '../argv/flags.ts'
import type { Io } from './io.ts'
import { fittedFrame } from './frame.ts'

/** Seconds between two looks when nothing is said, and the fewest that are allowed. */
const USUAL_SECONDS = 2
const FEWEST_SECONDS = 0.2

/** Home, and everything below it erased. */
const CLEAR = '\u001b[H\u001b[J'

/** A process whose output is drawn as one picture after the other. */
export interface Watched {
  /** For the command to write to. */
  readonly io: Io
  /** Runs the command again and again until Ctrl-C, or until one of its exit codes ends it. */
  repeat(run: () => Promise<ExitCode | undefined | void>, isOver: (code: ExitCode) => boolean): Promise<ExitCode>
}

/**
 * Shows the same thing again and again until Ctrl-C: in place on a terminal, one after the other elsewhere. On a terminal each
 * picture is written in one piece and never exceeds the height of the terminal, so that the titles of a table stay in view.
 */
export function watching(io: Io, { watch }: SharedValues): Watched {
  const seconds = watch === '' || watch === undefined ? USUAL_SECONDS : parseDuration(watch)
  if (seconds === undefined || seconds < FEWEST_SECONDS)
    throw usageError('--watch needs a duration of at least 0.2s, such as --watch=5s')
  const frame = io.stdout.isTty ? createFrame(io) : undefined
  return {
    io: frame?.io ?? io,
    async repeat(run, isOver) {
      frame?.clear()
      try {
        while (!io.interrupted.aborted) {
          const code = (await run()) ?? EXIT.ok
          frame?.draw()
          if (isOver(code)) return code
          await io.sleep(seconds * 1000)
        }
      } catch (error) {
        if (!io.interrupted.aborted) throw error
      } finally {
        frame?.release()
      }
      return EXIT.interrupted
    },
  }
}

/** Keeps what is written until it is drawn; of stderr too where the same terminal shows it. */
function createFrame(io: Io) {
  let kept = ''
  let isReleased = false
  const take = (): string => {
    const text = kept
    kept = ''
    return text
  }
  const { stdout, stderr } = io
  // Properties of the process are read when they are needed, so the copies keep asking it.
  const keeping = (sink: Io['stdout']): Io['stdout'] => {
    const write = (text: string): void => {
      if (isReleased) sink.write(text)
      else kept += text
    }
    return Object.create(sink, { write: { value: write } }) as Io['stdout']
  }
  const overrides = { stdout: { value: keeping(stdout) }, ...(stderr.isTty && { stderr: { value: keeping(stderr) } }) }
  return {
    io: Object.create(io, overrides) as Io,
    clear: () => stdout.write(CLEAR),
    draw(): void {
      stdout.write(CLEAR + fittedFrame(take(), { rows: stdout.rows, columns: stdout.columns }))
    },
    /** Writes what is kept as it is, and from now on everything at once: nothing more will be drawn. */
    release(): void {
      isReleased = true
      const text = take()
      if (text !== '') stdout.write(text)
    },
  }
}
