import { writeSync } from 'node:fs'
import { EXIT } from './exit-code.ts'
import { faultOf, REPORT } from './fault.ts'

const STDERR = 2
const ASKS_STACK = new Set(['--debug', '-v', '--trace'])

/** Whatever is thrown where nothing catches it ends the process with a sentence instead of a stack. */
export function guardProcess(): void {
  // Once: a fault while the first one is reported is left to Node.
  process.once('uncaughtException', endAfter)
}

/** Ends the process after something was thrown where nothing caught it: nobody else is left to say what happened. */
export function endAfter(error: unknown): void {
  const { sentence, stack } = faultOf(error)
  const showsStack = process.argv.some((word) => ASKS_STACK.has(word))
  say([`error: ${sentence}`, ...(showsStack ? stack : ['For the place in the code, add --debug.']), REPORT])
  process.exit(EXIT.failed)
}

/**
 * Listens for the errors of stdout or stderr. A reader that has seen enough (`ctl … | head`) closes the pipe: no failure, only
 * nothing left to do. A full disk and the like are one, and what was to be written is lost.
 */
export function endWithOutput(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok)
    say([`error: the output cannot be written (${error.code ?? error.message})`])
    process.exit(EXIT.failed)
  })
}

function say(lines: readonly string[]): void {
  try {
    writeSync(STDERR, `${lines.join('\n')}\n`)
  } catch {
    // Nobody reads stderr either; the exit code says it.
  }
}
