import { existsSync } from 'node:fs'
import { CliError } from '../../errors/cli-error.ts'
import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { isEnrolled } from '../enrolled-state.ts'
import type { EnrolledState } from '../agent-core.ts'
import { askAgent } from '../control/ask-agent.ts'
import { agentError, systemCode } from '../errors.ts'
import { ingressPlace } from '../bridges/ingress/ingress-place.ts'
import { removeIngress } from '../bridges/ingress/remove-ingress.ts'
import { removeDevice } from '../device/open-device.ts'
import { removeTunnels } from '../bridges/tunnels/remove-tunnels.ts'
import { removeOwnLinks } from '../device/remove-own-links.ts'
import { removeFirewall } from '../firewall/remove-firewall.ts'
import { openMeshNames } from '../names/mesh-names.ts'
import type { Place } from '../place.ts'
import { readState } from '../state/state-file.ts'
import { runProgram } from '../system/run-program.ts'
import { doEach } from './do-each.ts'
import { lockOwner, takeLock, type LockOwner, type ProcessLock } from './process-lock.ts'

/** What was taken down. */
export interface TakenDown {
  readonly wasRunning: boolean
  /** Undefined where the machine is not enrolled. */
  readonly enrolled:
    | { readonly name: string; readonly interfaceName: string; readonly refused: string | undefined }
    | undefined
}

/** How long a process gets to end after it was asked, and after a signal. */
const END_MS_MAX = 10_000
const LOOK_EVERY_MS = 50

/** Stops the agent and removes what it, or a killed one before it, has left. @throws CliError where something stays. */
export async function takeDown(place: Place): Promise<TakenDown> {
  if (!existsSync(place.directory)) return { wasRunning: false, enrolled: undefined }
  const { lock, wasRunning } = await lockAfterStop(place)
  try {
    const state = await readState(place.state)
    await rm(place.socket, { force: true })
    if (!isEnrolled(state)) return { wasRunning, enrolled: undefined }
    await removeLeftovers(state, place)
    const { enrolment, machine } = state
    return {
      wasRunning,
      enrolled: { name: enrolment.name, interfaceName: machine.interface_name, refused: enrolment.refused?.code },
    }
  } finally {
    await lock.release()
  }
}

/** An agent that ends may have a successor at once, as one that upgrades itself or that systemd starts again. */
const SUCCESSORS_MAX = 5

/** Stops the agent, and those that take the lock before this process has it. @throws CliError where there is always one more. */
async function lockAfterStop(place: Place): Promise<{ readonly lock: ProcessLock; readonly wasRunning: boolean }> {
  let wasRunning = false
  for (let successors = 0; ; successors += 1) {
    const owner = await lockOwner(place.lock)
    if (owner !== undefined) await stopProcess(place, owner)
    wasRunning ||= owner !== undefined
    try {
      return { lock: await takeLock(place.lock), wasRunning }
    } catch (error) {
      if (!(error instanceof CliError) || error.code !== 'agent_running' || successors >= SUCCESSORS_MAX) throw error
    }
  }
}

/** Asks the agent to end; one that does not answer gets a signal, which leaves its tunnels to this process. */
async function stopProcess(place: Place, owner: LockOwner): Promise<void> {
  const isAsked = await askAgent(place.socket, 'stop').then(
    (answer) => answer !== undefined,
    () => false, // It is signalled instead.
  )
  if (isAsked && (await hasEnded(place, owner))) return
  await endBySignal(place, owner)
}

/** Ends an agent by signals and leaves its tunnels up. @throws CliError where it does not end. */
export async function endBySignal(place: Place, owner: LockOwner): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    send(owner.pid, signal)
    if (await hasEnded(place, owner)) return
  }
  throw agentError('agent_running', `process ${owner.pid} of the agent does not end`)
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error
  }
}

async function hasEnded({ lock }: Place, { pid }: LockOwner): Promise<boolean> {
  const deadline = Date.now() + END_MS_MAX
  while ((await lockOwner(lock))?.pid === pid) {
    if (Date.now() >= deadline) return false
    await pause(LOOK_EVERY_MS)
  }
  return true
}

async function removeLeftovers({ machine, enrolment }: EnrolledState, place: Place): Promise<void> {
  const { interface_name: interfaceName } = machine
  const { node_id: owner } = enrolment
  const log = (): void => undefined // What cannot be removed is thrown.
  const removeInterfaces = (): Promise<void> =>
    doEach([
      () => removeTunnels({ run: runProgram, owner, folder: place.directory }),
      () => removeOwnLinks(runProgram, owner),
      async () => void (await removeDevice({ name: interfaceName, owner })),
    ])
  await doEach([
    () => removeIngress(ingressPlace(owner, place.directory)),
    async () => {
      // First: the rules stay while an interface does. Where the one of the mesh is that of another agent, its names stay, too.
      await removeInterfaces()
      await doEach([
        async () => (await openMeshNames({ way: 'none', interfaceName, run: runProgram, log })).remove(),
        () => removeFirewall(runProgram, interfaceName),
      ])
    },
  ])
}
