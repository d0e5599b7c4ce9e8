import { setMaxListeners } from 'node:events'
import { createAgentRuntime, type AgentOptions, type RunPlan } from './agent-runtime.ts'
import { createLightRuntime } from './light/light-runtime.ts'
import type { LightWire } from './light/light-wire.ts'
import { startBinary } from './binary.ts'
import { runConcurrently } from './run-concurrently.ts'
import { generateMeshKey } from '../../client/agent/keys/mesh-key.ts'
import { createPacer } from '../../client/agent/calls/pacer.ts'
import { withRateLimitRetries, type PacedCall } from './rate-limit-retry.ts'
import type { NodeIdentity } from './state-directory.ts'
import { tallyReachability, type FleetNode } from './simulated-node.ts'
import { createPacedLimiter } from '../../client/agent/calls/paced-limiter.ts'

/** The token with which nodes register. */
export interface JoinToken {
  readonly token: string
  /** Undefined if the user gave the token, because the token does not show it. */
  readonly isEphemeral: boolean | undefined
}

export interface RegistrationPlan {
  readonly joinToken: JoinToken
  /** Names of the nodes to enrol. */
  readonly names: readonly string[]
  /** Maximum number of concurrent registrations. */
  readonly concurrency: number
  /** No registration starts after it is aborted. */
  readonly until: AbortSignal
}

export interface FleetOptions extends AgentOptions {
  /** Undefined for full agents. */
  readonly light?: LightWire | undefined
}

/** The simulated nodes. */
export interface Fleet {
  /** Number of nodes. */
  size(): number
  /**
   * Registers the planned nodes. A refused one is counted and omitted.
   *
   * @throws the last refusal if the fleet has no node then.
   */
  register(plan: RegistrationPlan): Promise<void>
  /** Adds nodes of an earlier run. */
  resume(nodes: readonly NodeIdentity[]): void
  /** Requests the event streams of all agents, 500 per second. Resolves after the first try of each; refused ones are tried again later. */
  connect(until: AbortSignal): Promise<void>
  /** Compares the received events with the server's. Waits up to a minute, and a millisecond per node, for missing ones. */
  confirm(until: AbortSignal): Promise<void>
  /** Ends the event streams. */
  disconnect(): Promise<void>
  /** Runs every agent until the signal is aborted: heartbeats, spread over their interval, and the work of mesh agents. */
  run(plan: RunPlan, until: AbortSignal): Promise<void>
  /** Waits for the open tasks of the agents and compares their state. Starts nothing new afterwards. */
  settle(interrupted: AbortSignal): Promise<void>
  /**
   * Deletes the bridges that the simulator made, and deregisters every node, with the operator's credential. Resolves with the number of
   * nodes that could not be deregistered.
   */
  deregister(concurrency: number): Promise<number>
  identities(): readonly NodeIdentity[]
  /** Number of nodes per reachability state, computed from their accepted heartbeats. */
  reachability(): Readonly<Record<string, number>>
}

/** The default rate limit of registrations with one join token. */
const ENROL_PER_SECOND = 500
/** The default rate limit of one operator's changes. */
const DEREGISTER_PER_SECOND = 200
/** The rate at which one process on two cores can open streams. */
const CONNECT_PER_SECOND = 500
/** Maximum number of streams that open concurrently: the thread that reads their answers also verifies replayed events. */
const CONNECT_CONCURRENCY = 64
/** Maximum number of concurrent comparisons, and the time for all of them in addition to a millisecond per node. */
const CONFIRM_CONCURRENCY = 64
const CONFIRM_MS_MAX = 60_000

interface Registration extends PacedCall {
  /** Called with each failed try. */
  readonly onFailure: (error: unknown) => void
}

/** Makes an empty fleet. */
export function createFleet(options: FleetOptions): Fleet {
  const { client, clock, streams } = options
  const { binaries } = options.habits
  const { light } = options
  const runtime = light === undefined ? createAgentRuntime(options) : createLightRuntime({ ...options, light })
  const nodes = (): readonly FleetNode[] => runtime.nodes()

  async function enrol(name: string, joinToken: JoinToken, terms: Registration): Promise<void> {
    const key = generateMeshKey()
    const { version: binary_version, checksum: binary_checksum } = startBinary(binaries, nodes().length)
    const body = { name, kind: 'worker', public_key: key.publicKey, binary_version, binary_checksum }
    const enrolled = await withRateLimitRetries(options, terms, () =>
      client.RegisterNode({ body }, { token: joinToken.token }).catch((error: unknown) => {
        terms.onFailure(error)
        throw error
      }),
    )
    if (enrolled === undefined) return
    const { node_id, nsk, psk_issued_at, domain_id } = enrolled.answer
    const identity = { node_id, name, nsk, private_key: key.privateKey, psk_issued_at, domain_id }
    const { isEphemeral } = joinToken
    runtime.add({ ...identity, ...(isEphemeral !== undefined && { is_ephemeral: isEphemeral }) })
  }

  return {
    size: () => nodes().length,
    async register({ joinToken, names, ...limits }) {
      let refusal: unknown
      const terms = {
        operation: 'register',
        pace: createPacer(clock, ENROL_PER_SECOND),
        until: limits.until,
        onFailure: (error: unknown) => void (refusal = error),
      } as const
      await runConcurrently(names, limits, (name) => enrol(name, joinToken, terms))
      if (nodes().length === 0 && refusal !== undefined && !limits.until.aborted) throw refusal
    },
    resume(earlier) {
      for (const identity of earlier) runtime.add(identity)
    },
    async connect(until) {
      if (streams === undefined) return
      const limiter = createPacedLimiter(createPacer(clock, CONNECT_PER_SECOND), CONNECT_CONCURRENCY)
      await Promise.all(nodes().map((_, index) => limiter(until, () => runtime.open(index))))
    },
    async confirm(until) {
      const timeout = new AbortController()
      const timer = setTimeout(() => timeout.abort(), CONFIRM_MS_MAX + nodes().length)
      const either = AbortSignal.any([until, timeout.signal])
      setMaxListeners(2 * CONFIRM_CONCURRENCY, either)
      await runConcurrently(nodes(), { concurrency: CONFIRM_CONCURRENCY, until }, async ({ stream }) =>
        stream?.confirm(either),
      )
      clearTimeout(timer)
    },
    disconnect: () => runtime.disconnect(),
    run: (plan, until) => runtime.run(plan, until),
    settle: (interrupted) => runtime.settle(interrupted),
    async deregister(concurrency) {
      await runtime.removeBridges()
      const leaving = nodes()
      runtime.clear()
      // Not aborted by an interrupt, so that all nodes are deregistered.
      const until = new AbortController().signal
      const terms = { operation: 'deregister', pace: createPacer(clock, DEREGISTER_PER_SECOND), until } as const
      let left = leaving.length
      await runConcurrently(leaving, { concurrency }, async ({ identity }) => {
        const gone = await withRateLimitRetries(options, terms, () => client.DeleteNode({ id: identity.node_id }))
        if (gone !== undefined) left -= 1
      })
      return left
    },
    identities: () => nodes().map(({ identity, stream, binary }) => ({ ...identity, binary, ...stream?.progress() })),
    reachability: () => tallyReachability(nodes(), clock.now()),
  }
}
