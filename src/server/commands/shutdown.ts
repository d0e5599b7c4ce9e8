import type { TextSink } from '../composition/log.ts'

/** When a running server is to end, and why. */
export interface Ending {
  /** Resolves at the first signal to stop, or when the datastore is lost. */
  readonly ended: Promise<void>
  /** Aborted at the same time. */
  readonly signal: AbortSignal
  /** How long the server may take to close, ms. */
  closeMs(): number
  /** Ends the server because its datastore cannot be used again in this process. */
  lose(error: Error): void
  isLost(): boolean
  /** Logs why the process ends unless it was asked to, and returns the exit code. */
  conclude(): 0 | 1
  dispose(): void
}

/** A terminal and npm both pass on one Ctrl-C. */
const SAME_KEYPRESS_MS = 1000
/** The drain time (decisions: First run). */
const STOP_MS = 10_000
const LATE = 'The server did not stop within 10 s and is killed; the next start recovers what it acknowledged.'
/** Without its datastore the server can only refuse requests. */
const LOST_MS = 1_500

/**
 * Listens for SIGTERM and SIGINT. The process ends within the time limit of the reason, whatever a thread or a
 * dependency does meanwhile; a second signal ends it at once.
 */
export function listenForEnding(stderr: TextSink): Ending {
  const controller = new AbortController()
  const ended = new Promise<void>((resolve) => controller.signal.addEventListener('abort', () => resolve()))
  let lost: Error | undefined
  let exitCode: 0 | 1 | undefined
  let firstMs = Infinity

  const say = (sentence: string): void => stderr.write(`ctl serve: ${sentence}\n`)

  function endWithin(ms: number): void {
    setTimeout(() => kill(exitCode), ms).unref()
    controller.abort()
  }

  /** An exit waits for threads, and a thread that is inside a system call for as long as the disk hangs. */
  function kill(concluded: 0 | 1 | undefined): void {
    if (concluded !== undefined) process.exit(concluded)
    say(lost === undefined ? LATE : sentenceOf(lost))
    process.kill(process.pid, 'SIGKILL')
  }

  const onSignal = (): void => {
    if (Date.now() - firstMs >= SAME_KEYPRESS_MS) process.exit(130)
    if (firstMs !== Infinity) return
    firstMs = Date.now()
    endWithin(STOP_MS)
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  return {
    ended,
    signal: controller.signal,
    closeMs: () => (lost === undefined ? STOP_MS : LOST_MS),
    lose(error) {
      lost = error
      endWithin(LOST_MS)
    },
    isLost: () => lost !== undefined,
    conclude() {
      exitCode = lost === undefined ? 0 : 1
      if (lost !== undefined) say(sentenceOf(lost))
      return exitCode
    },
    dispose: () => void process.off('SIGTERM', onSignal).off('SIGINT', onSignal),
  }
}

function sentenceOf({ message }: Error): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}
