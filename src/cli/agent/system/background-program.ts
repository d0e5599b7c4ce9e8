import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { agentError, reasonOf, systemCode } from '../errors.ts'
import { cleanEnvironment } from './clean-environment.ts'
import { markedProcesses, type Marks } from './marked-processes.ts'
import { memoryFile } from './memory-file.ts'
import { missingProgram } from './missing-program.ts'
import { recordedProcess, writeProcessRecord } from './process-record.ts'
import { openLog } from './program-log.ts'

/** How the processes of a program are found again, also by a later process of the agent. */
export interface ProgramSign {
  /** Variables of its environment. */
  readonly marks: Marks
  /** The file that names its process. An agent with fewer rights than the one that has started it cannot read its environment. */
  readonly recordFile: string
}

/** A program that goes on when the agent ends. */
export interface BackgroundProgram extends ProgramSign {
  readonly program: string
  readonly args: readonly string[]
  readonly logFile: string
  /** Beside a path, a language and the marks. */
  readonly environment?: Readonly<Record<string, string>>
  /** Read from the standard input, which no other process can read. */
  readonly stdin?: string
}

/** How long a process gets to end after SIGTERM, and again after SIGKILL. */
const END_MS_MAX = 5_000
const POLL_MS = 20

/** Starts it in a session of its own. @throws CliError where it is not installed or cannot be started. */
export async function startInBackground(background: BackgroundProgram): Promise<ChildProcess> {
  const child = await spawned(background)
  try {
    writeProcessRecord(background.recordFile, { pid: child.pid ?? 0, marks: background.marks })
  } catch (error) {
    // Nothing could find it.
    child.kill('SIGKILL')
    throw error
  }
  return child
}

/** The processes of a program that run, by what `startInBackground` has left. */
export function runningProcesses({ marks, recordFile }: ProgramSign): readonly number[] {
  const recorded = recordedProcess(recordFile, marks)
  return [...new Set([...(recorded === undefined ? [] : [recorded]), ...markedProcesses(marks)])]
}

/** Ends them, and resolves once they are gone. @throws CliError where one stays. */
export async function endProgram(sign: ProgramSign): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const pid of runningProcesses(sign)) send(pid, signal)
    if (await areGone(sign)) return rmSync(sign.recordFile, { force: true })
  }
  throw agentError('program_running', `process ${runningProcesses(sign).join(', ')} does not end`)
}

/** Whether a child of this process has ended. */
export function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

async function areGone(sign: ProgramSign): Promise<boolean> {
  const deadline = performance.now() + END_MS_MAX
  while (runningProcesses(sign).length > 0) {
    if (performance.now() > deadline) return false
    await pause(POLL_MS)
  }
  return true
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error
  }
}

function spawned({ program, args, marks, environment, stdin, logFile }: BackgroundProgram): Promise<ChildProcess> {
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
    child.once('error', (error) =>
      reject(
        systemCode(error) === 'ENOENT'
          ? missingProgram(program)
          : agentError('program_not_started', `${program} could not be started: ${reasonOf(error)}`, { cause: error }),
      ),
    )
  })
}
