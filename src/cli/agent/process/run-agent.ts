import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { startAgent, type RunningAgent } from '../agent.ts'
import type { Upgrading } from '../upgrade/upgrading.ts'
import type { EnrolledState } from '../agent-core.ts'
import type { AgentEnd } from '../agent-end.ts'
import { listenForControl, type ControlHandler } from '../control/control-socket.ts'
import { agentError, reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { machinePorts } from '../machine-ports.ts'
import type { Place } from '../place.ts'
import { runProgram } from '../system/run-program.ts'
import { createBinaryReader } from './agent-binary.ts'

/** What a process needs to be the agent. */
export interface RunOptions {
  readonly place: Place
  readonly state: EnrolledState
  readonly manifest: Manifest
  readonly version: string
  readonly userAgent: string
  readonly log: Log
  readonly upgrading: Upgrading
  /** Ends the agent; its tunnels stay up. */
  readonly interrupted: AbortSignal
  /** Called when the agent carries the mesh, or found that the server is away. */
  readonly onReady: () => void
}

/** Runs the agent until it ends. The caller holds the lock. */
export async function runAgent(options: RunOptions): Promise<AgentEnd> {
  const { place, log, interrupted, onReady } = options
  let agent: RunningAgent | undefined
  const control = await listenForControl(
    place.socket,
    handlerOf(() => agent),
  )
  try {
    agent = await startAgent({
      ...options,
      binary: createBinaryReader(options.version, Date.now),
      ports: machinePorts(runProgram),
      run: runProgram,
    })
    const started = agent
    const interrupt = (): void => void started.stop('stopped').catch(() => undefined) // `ended` has the failure.
    interrupted.addEventListener('abort', interrupt, { once: true })
    if (interrupted.aborted) interrupt()
    void started.ready.then(onReady)
    return await started.ended
  } catch (error) {
    log.line(`agent: ${reasonOf(error)}`)
    throw error
  } finally {
    await control.close()
  }
}

function handlerOf(agentNow: () => RunningAgent | undefined): ControlHandler {
  return async (request) => {
    const agent = agentNow()
    if (agent === undefined) throw agentError('agent_starting', 'it is still starting')
    if (request === 'status') return agent.status()
    if (request === 'peers') return agent.peers()
    await agent.stop('removed')
    return null
  }
}
