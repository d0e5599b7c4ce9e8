import type { ChildProcess } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { agentError, reasonOf } from '../errors.ts'
import {
  endProgram,
  hasEnded,
  runningProcesses,
  startInBackground,
  type BackgroundProgram,
  type ProgramSign,
} from './background-program.ts'
import { recordedProcess, writeProcessRecord } from './process-record.ts'
import { startTimeOf } from './process-start.ts'
import { lastLogLine, shortenLog } from './program-log.ts'
import { isOfThisService } from './service-of.ts'

const LOOK_MS = 500
const RETRY_MS = 500
const RETRY_MS_MAX = 15_000
const START_MS_MAX = 15_000
const START_POLL_MS = 20
const PROBE_MS = 5_000
/** A program may resolve a name for a while, during which it answers nothing. */
const SILENT_MS_MAX = 60_000

/** A program that carries packets or connections. It outlives the agent, and is started again when it dies or does not answer. */
export interface KeptProgram extends BackgroundProgram {
  /** Marks that every version of it has: those of a process that has another configuration than this one, and is ended. */
  readonly family: ProgramSign['marks']
  /** Whether it does its work by now. A start that fails is one where the process ends before. */
  readonly isReady: () => Promise<boolean>
  /** Called before each start. */
  readonly prepare?: () => Promise<void>
  /** Called after each start, before it counts as running. */
  readonly onStarted?: () => Promise<void>
  readonly log: (line: string) => void
  /** Milliseconds without an answer after which it is started again; 60 s. */
  readonly silentMsMax?: number
  /** Milliseconds between two questions; 5 s. */
  readonly probeMs?: number
}

/** One process that is kept running. */
export interface KeptProcess {
  /** Why it does not run now; undefined while it does. */
  fault(): string | undefined
  /** Nothing is started any more. The process stays. */
  stopWatching(): Promise<void>
}

interface Running {
  readonly pid: number
  readonly startTime: string | undefined
}

/**
 * Starts the program, or takes over the process of an earlier agent that was started with the same marks. Resolves once it is ready. A
 * process of the same family with other marks is ended, and so is one that a service finds outside of itself.
 *
 * @throws CliError where it is not installed or ends at its start.
 */
export async function keepRunning(kept: KeptProgram): Promise<KeptProcess> {
  const stopping = new AbortController()
  const resting = (ms: number): Promise<unknown> =>
    pause(ms, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
  let fault: string | undefined
  let process = (await takenOver(kept)) ?? (await start(kept, stopping.signal))
  let answeredMs = performance.now()
  let probedMs = answeredMs

  const startAgain = async (why: string): Promise<void> => {
    fault = why
    for (let delayMs = RETRY_MS; ; delayMs = Math.min(2 * delayMs, RETRY_MS_MAX)) {
      await resting(delayMs)
      if (stopping.signal.aborted) return
      try {
        process = await start(kept, stopping.signal)
        fault = undefined
        answeredMs = performance.now()
        return
      } catch (error) {
        fault = reasonOf(error)
      }
    }
  }
  /** Whether it has not answered for a long time. */
  const isHung = async (): Promise<boolean> => {
    if (performance.now() - probedMs < (kept.probeMs ?? PROBE_MS)) return false
    const answers = await doesAnswer(kept)
    probedMs = performance.now()
    if (answers) answeredMs = probedMs
    return probedMs - answeredMs > (kept.silentMsMax ?? SILENT_MS_MAX)
  }
  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await resting(Math.min(LOOK_MS, kept.probeMs ?? LOOK_MS))
      shortenLog(kept.logFile)
      if (stopping.signal.aborted) return
      if (!isRunning(process)) await startAgain(endedText(kept))
      else if (await isHung()) {
        kept.log(`${kept.program} does not answer and is started again`)
        await startAgain(`${kept.program} does not answer`)
      }
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

function isRunning({ pid, startTime }: Running): boolean {
  return startTime !== undefined && startTimeOf(pid) === startTime
}

async function takenOver(kept: KeptProgram): Promise<Running | undefined> {
  const [pid] = runningProcesses(kept)
  if (pid === undefined) return undefined
  if (!isOfThisService(pid)) {
    kept.log(`${kept.program}: process ${pid} was started outside of this service and is started again in it`)
    return undefined
  }
  const found = { pid, startTime: startTimeOf(pid) }
  const deadline = performance.now() + START_MS_MAX
  while (!(await doesAnswer(kept))) {
    if (!isRunning(found) || performance.now() > deadline) return undefined
    await pause(START_POLL_MS)
  }
  // A full disk takes nothing from a process that is on record.
  const { recordFile, marks } = kept
  if (recordedProcess(recordFile, marks) !== pid) writeProcessRecord(recordFile, { pid, marks })
  return found
}

/** A process that is not ready when the signal is given stays: the next agent takes it over, or starts it again. */
async function start(kept: KeptProgram, stopping: AbortSignal): Promise<Running> {
  const family = { marks: kept.family, recordFile: kept.recordFile }
  await endProgram(family)
  await kept.prepare?.()
  const child = await startInBackground(kept)
  const pid = child.pid ?? 0
  const started = { pid, startTime: startTimeOf(pid) }
  try {
    await becomeReady(child, kept, stopping)
    if (!stopping.aborted) await kept.onStarted?.()
  } catch (error) {
    await endProgram(family)
    throw error
  }
  return started
}

async function becomeReady(child: ChildProcess, kept: KeptProgram, stopping: AbortSignal): Promise<void> {
  const deadline = performance.now() + START_MS_MAX
  while (!stopping.aborted && !(await doesAnswer(kept))) {
    if (hasEnded(child)) throw agentError('program_failed', endedText(kept))
    if (performance.now() > deadline)
      throw agentError(
        'program_failed',
        `${kept.program} was not ready within ${START_MS_MAX / 1000} s; its log is ${kept.logFile}.`,
      )
    await pause(START_POLL_MS)
  }
}

async function doesAnswer({ isReady }: KeptProgram): Promise<boolean> {
  try {
    return await isReady()
  } catch {
    // A question that fails is one without an answer: what is wrong is in the log of the program.
    return false
  }
}

function endedText({ program, logFile }: KeptProgram): string {
  const last = lastLogLine(logFile)
  return `${program} ended${last === '' ? '' : `: ${last}`}; its log is ${logFile}.`
}
