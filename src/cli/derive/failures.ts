import { ProblemAnswer } from '../../client/failures.ts'
import { CliError } from '../errors/cli-error.ts'
import { EXIT, exitCodeOf, type ExitCode } from '../errors/exit-code.ts'
import type { Session } from '../session/session.ts'

/** Failures of single objects among several: each is reported, and the others go on. */
export interface Failures {
  /** Reports the failure of an object. Answers false, without a report, where the others would fail for the same cause. */
  take(label: string, error: unknown): Promise<boolean>
  readonly count: number
  /** Of the first failure; undefined before it. */
  readonly exitCode: ExitCode | undefined
}

/** What is wrong with one object only. A lost connection or a sign-in that failed concerns all of them. */
const OF_ONE = new Set<ExitCode>([
  EXIT.notFound,
  EXIT.denied,
  EXIT.conflict,
  EXIT.invalid,
  EXIT.usage, // A name that fits several objects.
])

/** Takes failures of the command with these words. */
export function createFailures(session: Session, words: string): Failures {
  const codes: ExitCode[] = []
  return {
    async take(label, error) {
      const code = codeOf(error)
      if (code === undefined || !OF_ONE.has(code)) return false
      const { reportLine } = await import('../errors/failure.ts')
      codes.push(await reportLine(error, session, { words, label }))
      return true
    },
    get count() {
      return codes.length
    },
    get exitCode() {
      return codes[0]
    },
  }
}

function codeOf(error: unknown): ExitCode | undefined {
  if (error instanceof CliError) return error.exitCode
  return error instanceof ProblemAnswer ? exitCodeOf(error.status) : undefined
}
