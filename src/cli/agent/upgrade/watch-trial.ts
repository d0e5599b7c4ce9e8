import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import { isEnrolled } from '../enrolled-state.ts'
import type { Log } from '../log.ts'
import type { Place } from '../place.ts'
import { takeLock } from '../process/process-lock.ts'
import { readState, writeState } from '../state/state-file.ts'
import { TRIAL_MS } from './confirm-upgrade.ts'
import { isOpen } from './upgrades.ts'
import type { ProgramFile } from './program-file.ts'

/** What the former agent needs to watch the new one. */
export interface TrialOptions {
  readonly place: Place
  readonly file: Pick<ProgramFile, 'restore'>
  readonly log: Log
  /** Ends the trial; the new file stays. */
  readonly interrupted: AbortSignal
  /** Starts the agent from the new file. */
  readonly start: () => ChildProcess
  readonly trialMs?: number
}

/** What is to be done after a trial: `again`: the agent is started from its file; otherwise the process ends with that exit code. */
export type TrialEnd = 'again' | ExitCode

const LOOK_EVERY_MS = 200
/** Ends by which an agent shows that it works: it was asked to start again, or its server refused the node. */
const WORKING_ENDS: readonly ExitCode[] = [EXIT.terminated, EXIT.signedOut]
/** Before a service manager kills this process and leaves the new agent, which has the lock (TimeoutStopSec of the unit: 20 s). */
const END_MS_MAX = 12_000

/** Watches an agent that was started from a new file. Where it does not report, its file becomes the former one. */
export async function watchTrial(options: TrialOptions): Promise<TrialEnd> {
  const { interrupted, start, place } = options
  const child = start()
  const failure = await outcomeOf(child, options)
  const worked = await workingEnd(child, place)
  if (worked !== undefined) return worked
  await end(child)
  if (interrupted.aborted) return EXIT.ok
  // It may have reported in its last moment.
  if (failure === undefined || (await isConfirmed(place))) return 'again'
  await undo(options, failure)
  return 'again'
}

/** With which exit code the new agent has ended as one that works. Any program ends with 0, so that the agent notes it in the state. */
async function workingEnd({ exitCode }: ChildProcess, { state: path }: Place): Promise<ExitCode | undefined> {
  if (exitCode !== EXIT.ok) return WORKING_ENDS.find((code) => code === exitCode)
  const state = await readState(path)
  const upgrade = isEnrolled(state) ? state.enrolment.upgrade : undefined
  return !isOpen(upgrade) || upgrade.is_ended === true ? EXIT.ok : undefined
}

/** Why the new agent is no good; undefined where it is, or where the trial was interrupted. */
async function outcomeOf(
  child: ChildProcess,
  { place, interrupted, trialMs = TRIAL_MS }: TrialOptions,
): Promise<string | undefined> {
  const deadlineMs = performance.now() + trialMs
  let fault: string | undefined
  child.once('error', (error) => {
    fault = `the new agent cannot be started: ${error.message}`
  })
  while (!interrupted.aborted) {
    if (fault !== undefined) return fault
    if (hasEnded(child))
      return `the new agent ended with ${child.exitCode ?? child.signalCode ?? 'no status'} before it had reported`
    if (await isConfirmed(place)) return undefined
    if (performance.now() >= deadlineMs) return `the new agent did not report within ${trialMs / 1000} s`
    await pause(LOOK_EVERY_MS)
  }
  return undefined
}

/** An upgrade that the state has no more is over as well: the server may end its execution as soon as the new agent has reported. */
async function isConfirmed(place: Place): Promise<boolean> {
  const state = await readState(place.state)
  return isEnrolled(state) && (state.enrolment.upgrade === undefined || state.enrolment.upgrade.is_confirmed === true)
}

function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null
}

/** The tunnels stay up. */
async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), END_MS_MAX)
  await ended
  clearTimeout(late)
}

async function undo({ place, file, log }: TrialOptions, failure: string): Promise<void> {
  await file.restore()
  log.line(`upgrade: undone, since ${failure}`)
  const lock = await takeLock(place.lock)
  try {
    const state = await readState(place.state)
    if (!isEnrolled(state) || state.enrolment.upgrade === undefined) return
    const { enrolment } = state
    await writeState(place.state, {
      ...state,
      enrolment: { ...enrolment, upgrade: { ...state.enrolment.upgrade, failure } },
    })
  } finally {
    await lock.release()
  }
}
