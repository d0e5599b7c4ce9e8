import { setTimeout as pause } from 'node:timers/promises'
import { CliError } from '../../errors/cli-error.ts'
import { isEnrolled } from '../enrolled-state.ts'
import type { Place } from '../place.ts'
import { takeLock, type ProcessLock } from '../process/process-lock.ts'
import { readState } from '../state/state-file.ts'
import { isOpen } from './upgrades.ts'

/** Longer than an agent on trial needs to see that the one that watched it has ended, and to end itself. */
const WAIT_MS_MAX = 30_000
const LOOK_EVERY_MS = 200

/**
 * Takes the lock. A service manager starts the agent again soon after the process that watched a new agent was killed: while an upgrade
 * is open, it waits for the end of that new agent. A refusal would be the last start of the service.
 *
 * @throws CliError where another agent runs.
 */
export async function lockAfterTrial(
  place: Place,
  { isService, waitMsMax = WAIT_MS_MAX }: { readonly isService: boolean; readonly waitMsMax?: number },
): Promise<ProcessLock> {
  const deadlineMs = performance.now() + waitMsMax
  for (;;) {
    try {
      return await takeLock(place.lock)
    } catch (error) {
      const isTaken = error instanceof CliError && error.code === 'agent_running'
      const mayWait = isTaken && isService && performance.now() < deadlineMs
      if (!mayWait || !(await isOnTrial(place))) throw error
    }
    await pause(LOOK_EVERY_MS)
  }
}

async function isOnTrial({ state: path }: Place): Promise<boolean> {
  const state = await readState(path)
  return isEnrolled(state) && isOpen(state.enrolment.upgrade)
}
