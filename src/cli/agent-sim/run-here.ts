import { createClientOver, type Caller } from '../../client/client.ts'
import { createNodeStreams } from '../../client/agent/events/node-streams.ts'
import { createNodeWire } from '../../client/agent/calls/node-wire.ts'
import { createSystemClock } from '../../client/agent/system-clock.ts'
import type { contract } from '../../shared/contract/index.ts'
import type { Session } from '../session/session.ts'
import { createLightWire } from './light/light-wire.ts'
import { createWire } from './light/wire.ts'
import { connectionsOf } from './load-flags.ts'
import type { SimulationFlags } from './plan-of-flags.ts'
import type { SimulationPlan } from './plan.ts'
import { simulate, type MeasuredResult, type SimulationDeps } from './simulation.ts'
import { createRotation, sourceAddressesOf } from './source-addresses.ts'
import { openStateDirectory } from './state-directory.ts'
import { startPullThread } from './threaded-pulls.ts'

export const CALL_TIMEOUT_MS = 15_000
/** Connections of calls that light agents do not make themselves. */
const OTHER_CONNECTIONS = 64

export interface RunOptions extends Pick<SimulationDeps, 'joinToken' | 'observe' | 'ready'> {
  readonly session: Session
  readonly plan: SimulationPlan
  readonly flags: SimulationFlags
  /** The credential of the operator. */
  readonly token: string | undefined
  readonly stateDir: string | undefined
}

/** Runs a simulation in this process. */
export async function runHere(options: RunOptions): Promise<MeasuredResult> {
  const { session, plan, flags, token, stateDir, ...rest } = options
  const { url } = await session.settings()
  const connections = connectionsOf(flags)
  const to = { url: url.value, connections: connections === 'own' ? OTHER_CONNECTIONS : connections }
  const stateDirectory = stateDir === undefined ? undefined : await openStateDirectory(stateDir)
  const caller = await session.caller({ url: to.url, token, timeoutMs: CALL_TIMEOUT_MS, load: to })
  const agents = flags.light === true ? await lightOf(options, to.url) : await fullOf(options, caller, to)
  try {
    return await simulate(plan, {
      ...rest,
      ...agents,
      client: createClientOver<typeof contract>(caller, session.manifest()),
      streams: flags['no-events'] === true ? undefined : createNodeStreams(caller, session.manifest()),
      url: to.url,
      clock: createSystemClock(),
      signal: session.io.interrupted,
      stateDirectory,
    })
  } finally {
    await agents.stop()
  }
}

/** The calls and streams of light agents. */
async function lightOf({ session, flags }: RunOptions, url: string) {
  const nextAddress = createRotation(sourceAddressesOf(flags['source-addresses'] ?? []))
  const wire = createWire({ url, trust: await session.trustedAt(url), nextAddress })
  const { userAgent } = session
  const terms = {
    connections: connectionsOf(flags),
    manifest: session.manifest(),
    timeoutMs: CALL_TIMEOUT_MS,
    userAgent,
  }
  const light = createLightWire({ wire, ...terms })
  return { light, stop: async () => light.close() }
}

/** The calls of mesh agents: edge keys on the main thread, state pulls in a separate one. */
async function fullOf(
  { session, flags }: RunOptions,
  caller: Caller,
  to: { readonly url: string; readonly connections: number },
) {
  if (flags['no-mesh'] === true) return { stop: async () => undefined }
  const trust = await session.trustedAt(to.url)
  const thread = startPullThread({ ...to, trust, timeoutMs: CALL_TIMEOUT_MS, userAgent: session.userAgent })
  const mesh = { wire: createNodeWire(caller, session.manifest()), pulls: thread.over }
  return { mesh, stop: () => thread.stop() }
}
