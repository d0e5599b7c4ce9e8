import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, readdirSync, statSync, truncateSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { agentError, reasonOf, systemCode } from '../../errors.ts'
import { cleanEnvironment } from '../../system/clean-environment.ts'
import { missingProgram } from '../../system/missing-program.ts'

/** A program that goes on when the agent ends. */
export interface BackgroundProgram {
  readonly program: string
  readonly args: readonly string[]
  /** Where it prints to; emptied before. */
  readonly logFile: string
  /** Beside a path and a language. */
  readonly environment?: Readonly<Record<string, string>>
}

/** One of the arguments of a program that no other process has, by which it is found. */
export interface ProgramSign {
  readonly program: string
  readonly argument: string
}

const END_MS_MAX = 5_000
const POLL_MS = 20
/** A log is appended to, so that it can be emptied while the program writes. */
const LOG_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_APPEND

/** The log is in memory, as all of `/run` is. */
const LOG_BYTES_MAX = 1024 * 1024

/** Empties a log that is large. */
export function shortenLog(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > LOG_BYTES_MAX) truncateSync(file)
}

/** Starts it in a session of its own. @throws CliError where it is not installed. */
export function startInBackground({
  program,
  args,
  logFile,
  environment = {},
}: BackgroundProgram): Promise<ChildProcess> {
  const log = openSync(logFile, LOG_FLAGS, 0o600)
  const env = { ...cleanEnvironment(), ...environment }
  const child = spawn(program, args, { cwd: '/', detached: true, env, stdio: ['ignore', log, log] })
  closeSync(log)
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

/** Whether a child of this process has ended. */
export function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Ends every process of the program that has the argument, and resolves once they are gone. @throws CliError where one stays. */
export async function endPrograms(sign: ProgramSign): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const pid of processesOf(sign)) send(pid, signal)
    if (await areGone(sign)) return
  }
  throw agentError('program_running', `${sign.program} does not end (process ${processesOf(sign).join(', ')})`)
}

async function areGone(sign: ProgramSign): Promise<boolean> {
  const deadline = Date.now() + END_MS_MAX
  while (processesOf(sign).length > 0) {
    if (Date.now() >= deadline) return false
    await pause(POLL_MS)
  }
  return true
}

function processesOf(sign: ProgramSign): readonly number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && isOf(entry, sign))
    .map(Number)
}

function isOf(pid: string, { program, argument }: ProgramSign): boolean {
  try {
    const [first = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    return basename(first) === program && args.includes(argument)
  } catch {
    // It ended since the folder was read.
    return false
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error
  }
}
