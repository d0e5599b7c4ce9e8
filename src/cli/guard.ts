import { writeSync } from 'node:fs'
import { EXIT } from './exit-code.ts'
import { faultOf, REPORT } from './fault.ts'

const STDERR = 2

/** Ends the process after something was thrown where nothing caught it: nobody else is left to say what happened. */
export function endAfter(error: unknown): void {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  // A reader that has seen enough (`ctl … | head`) is no failure.
  if (code === 'EPIPE') process.exit(EXIT.ok)
  if (isWriting(error)) endUnwritten(String(code))
  const { sentence, stack } = faultOf(error)
  const isTold = process.argv.some((word) => word === '--debug' || word === '--trace')
  say([`error: ${sentence}`, ...(isTold ? stack : ['For the place in the code, add --debug.']), REPORT])
  process.exit(EXIT.failed)
}

/** Whether it is the output that could not be written: a full disk and the like. */
function isWriting(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'write'
}

/** Ends the process whose output is lost. */
export function endUnwritten(code: string): void {
  say([`error: the output cannot be written (${code})`])
  process.exit(EXIT.failed)
}

function say(lines: readonly string[]): void {
  try {
    writeSync(STDERR, `${lines.join('\n')}\n`)
  } catch {
    // Nobody reads stderr either; the exit code says it.
  }
}
