import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, fchmodSync, fstatSync, openSync, readSync, statSync, truncateSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { reasonOf } from '../../errors.ts'
import { cleanEnvironment } from '../../system/clean-environment.ts'
import { endMarked, isMarked, markedProcesses, type Marks } from '../../system/marked-processes.ts'
import { memoryFile } from '../../system/memory-file.ts'
import { missingProgram } from '../../system/missing-program.ts'
import { tunnelFault } from './tunnel-fault.ts'

const LOOK_MS = 500
const RETRY_MS = 500
const RETRY_MS_MAX = 15_000
const START_MS_MAX = 10_000
const START_POLL_MS = 20
const LOG_BYTES_MAX = 1024 * 1024
const LOG_TAIL_BYTES = 2048
/** What OpenVPN prints after the reason. */
const ENDING = /^Exiting due to fatal error/

/** A program that carries packets. It outlives the agent, and is started again when it dies. */
export interface KeptProgram {
  readonly program: string
  readonly args: readonly string[]
  /** Variables of its environment: what it is for, and what it was started with. A running process that has them is taken over. */
  readonly marks: Marks
  readonly environment?: Readonly<Record<string, string>>
  /** Read from the standard input, which no other process can read. */
  readonly stdin?: string
  readonly logFile: string
  /** Whether it does its work by now. A start that fails is one where the process ends before. */
  readonly isReady: () => Promise<boolean>
  /** Called after each start, before it counts as running. */
  readonly onStarted?: () => Promise<void>
}

/** One process that is kept running. */
export interface KeptProcess {
  /** Why it does not run now; undefined while it does. */
  fault(): string | undefined
  /** Nothing is started any more. The process stays. */
  stopWatching(): Promise<void>
}

/**
 * Starts the program, or takes over the process of an earlier agent that was started with the same. Resolves once it is ready.
 *
 * @throws CliError where it is not installed or ends at its start.
 */
export async function keepRunning(kept: KeptProgram): Promise<KeptProcess> {
  const stopping = new AbortController()
  let fault: string | undefined
  let pid = markedProcesses(kept.marks)[0] ?? (await start(kept))

  const startAgain = async (delayMs: number): Promise<void> => {
    await pause(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    if (stopping.signal.aborted) return
    try {
      await endMarked(kept.marks)
      pid = await start(kept)
      fault = undefined
    } catch (error) {
      fault = reasonOf(error)
      await startAgain(Math.min(2 * delayMs, RETRY_MS_MAX))
    }
  }
  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await pause(LOOK_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
      shorten(kept.logFile)
      if (stopping.signal.aborted || isMarked(pid, kept.marks)) continue
      fault = endedText(kept)
      await startAgain(RETRY_MS)
    }
  }
  const watching = watch()

  return {
    fault: () => fault,
    async stopWatching() {
      stopping.abort()
      await watching
    },
  }
}

async function start(kept: KeptProgram): Promise<number> {
  const child = await spawned(kept)
  try {
    await becomeReady(child, kept)
    await kept.onStarted?.()
  } catch (error) {
    await endMarked(kept.marks)
    throw error
  }
  return child.pid ?? 0
}

async function becomeReady(child: ChildProcess, kept: KeptProgram): Promise<void> {
  const deadline = Date.now() + START_MS_MAX
  while (!(await kept.isReady())) {
    if (child.exitCode !== null || child.signalCode !== null) throw tunnelFault(endedText(kept))
    if (Date.now() > deadline) throw tunnelFault(`${kept.program} was not ready within ${START_MS_MAX / 1000} s.`)
    await pause(START_POLL_MS)
  }
}

function spawned({ program, args, marks, environment, stdin, logFile }: KeptProgram): Promise<ChildProcess> {
  const log = openLog(logFile)
  const input = stdin === undefined ? undefined : memoryFile(stdin)
  const child = spawn(program, args, {
    cwd: '/',
    detached: true,
    env: { ...cleanEnvironment(), ...environment, ...marks },
    stdio: [input?.fd ?? 'ignore', log, log],
  })
  closeSync(log)
  input?.close()
  child.unref()
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child))
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? missingProgram(program)
          : tunnelFault(`${program} could not be started: ${error.message}`, { cause: error }),
      ),
    )
  })
}

function openLog(logFile: string): number {
  const log = openSync(logFile, 'a', 0o600)
  fchmodSync(log, 0o600)
  return log
}

function endedText({ program, logFile }: KeptProgram): string {
  const last = lastLine(logFile)
  return `${program} ended${last === '' ? '' : `: ${last}`}; its log is ${logFile}.`
}

function lastLine(logFile: string): string {
  try {
    const file = openSync(logFile, 'r')
    try {
      const tail = Buffer.alloc(LOG_TAIL_BYTES)
      const bytes = readSync(file, tail, { position: Math.max(0, fstatSync(file).size - LOG_TAIL_BYTES) })
      const lines = tail.toString('utf8', 0, bytes).trim().split('\n')
      return lines.findLast((line) => !ENDING.test(line))?.slice(0, 200) ?? ''
    } finally {
      closeSync(file)
    }
  } catch {
    // Without the file there is nothing to quote. Its path is named anyway.
    return ''
  }
}

/** The program appends, so it goes on at the beginning of the emptied file. */
function shorten(logFile: string): void {
  try {
    if (statSync(logFile).size > LOG_BYTES_MAX) truncateSync(logFile)
  } catch {
    // Without the file there is nothing to shorten.
  }
}
