import { setMaxListeners } from 'node:events'
import { createActing, type FleetOptions, type RunPlan } from './acting.ts'
import { holdStream } from './event-agent.ts'
import { inLanes } from './lanes.ts'
import { generateMeshKey } from './mesh-key.ts'
import { createPacer } from './pacer.ts'
import { patiently, type Terms } from './rate-limit-retry.ts'
import type { NodeIdentity } from './state-directory.ts'
import { simulatedNode, tallyReachability, type SimulatedNode } from './simulated-node.ts'
import { createTurnstile } from './paced-limiter.ts'

/** What nodes join with. */
export interface JoinToken {
  readonly token: string
  /** Undefined where the token was given, and does not say. */
  readonly isEphemeral: boolean | undefined
}

export interface RegistrationPlan {
  readonly joinToken: JoinToken
  /** Names of the nodes to enrol. */
  readonly names: readonly string[]
  /** Registrations under way at once. */
  readonly concurrency: number
  /** Begins no further registration once aborted. */
  readonly until: AbortSignal
}

/** The simulated nodes. */
export interface Fleet {
  /** Nodes enrolled or taken over so far. */
  size(): number
  /**
   * Enrols the planned nodes; a refused one is counted and left out. Resolves when all were tried.
   *
   * @throws the last refusal where it left the fleet without any node.
   */
  register(plan: RegistrationPlan): Promise<void>
  /** Takes over nodes of an earlier run. */
  resume(nodes: readonly NodeIdentity[]): void
  /** Lets every agent open its event stream, 500 a second; resolves when each has been open or has ended. */
  connect(until: AbortSignal): Promise<void>
  /** Compares what came with what the server has, and waits for the rest for a minute at most. */
  confirm(until: AbortSignal): Promise<void>
  /** Ends the event streams. */
  disconnect(): Promise<void>
  /** Lets every agent live until the signal: report at its interval, spread over it, and all that belongs to the mesh. */
  run(plan: RunPlan, until: AbortSignal): Promise<void>
  /** Lets agents end what they have begun, and compares what they know. Begins nothing more. */
  settle(interrupted: AbortSignal): Promise<void>
  /** Deregisters every node with the operator's credential. */
  deregister(concurrency: number): Promise<void>
  identities(): readonly NodeIdentity[]
  /** How many nodes are in each reachability state by their own accepted heartbeats. */
  reachability(): Readonly<Record<string, number>>
}

/** What a simulated agent says that it is, until it has a binary. */
const BINARY_VERSION = 'agent-sim'

/** The rate that a server allows one join token unless it was told otherwise. */
const ENROL_PER_SECOND = 500
/** The same for the changes of one operator. */
const DEREGISTER_PER_SECOND = 200
/** One process on two cores opens no more of them. */
const CONNECT_PER_SECOND = 500
/** At once: what they replay is verified by the one thread that has to read the next ones' answers in time. */
const CONNECT_LANES = 64
/** Comparisons under way at once, and the time for all of them, beside a millisecond for each. */
const CONFIRM_LANES = 64
const CONFIRM_MS_MAX = 60_000

interface EnrolmentTerms extends Terms {
  /** Told of each failure of a registration. */
  readonly refused: (error: unknown) => void
}

/** Makes an empty fleet. */
export function createFleet(options: FleetOptions): Fleet {
  const { client, clock, streams } = options
  let nodes: SimulatedNode[] = []
  const acting = createActing(options, () => nodes)
  const { deps } = acting

  async function enrol(name: string, joinToken: JoinToken, terms: EnrolmentTerms): Promise<void> {
    const key = generateMeshKey()
    const body = { name, kind: 'worker', public_key: key.publicKey, binary_version: BINARY_VERSION }
    const enrolled = await patiently(deps, terms, () =>
      client.RegisterNode({ body }, { token: joinToken.token }).catch((error: unknown) => {
        terms.refused(error)
        throw error
      }),
    )
    if (enrolled === undefined) return
    const { node_id, nsk, psk_issued_at } = enrolled.answer
    const identity = { node_id, name, nsk, private_key: key.privateKey, psk_issued_at }
    const { isEphemeral } = joinToken
    nodes.push(
      simulatedNode({ ...identity, ...(isEphemeral !== undefined && { is_ephemeral: isEphemeral }) }, nodes.length),
    )
  }

  return {
    size: () => nodes.length,
    async register({ joinToken, names, ...limits }) {
      let refusal: unknown
      const terms = {
        operation: 'register',
        pace: createPacer(clock, ENROL_PER_SECOND),
        until: limits.until,
        refused: (error: unknown) => void (refusal = error),
      } as const
      await inLanes(names, limits, (name) => enrol(name, joinToken, terms))
      if (nodes.length === 0 && refusal !== undefined && !limits.until.aborted) throw refusal
    },
    resume(earlier) {
      nodes.push(...earlier.map((identity, index) => simulatedNode(identity, nodes.length + index)))
    },
    async connect(until) {
      if (streams === undefined) return
      const turnstile = createTurnstile(createPacer(clock, CONNECT_PER_SECOND), CONNECT_LANES)
      const open = async (node: SimulatedNode): Promise<void> => {
        node.stream = holdStream({ ...deps, streams, hear: acting.hear }, node)
        await node.stream.opened
      }
      await Promise.all(nodes.map((node) => turnstile(until, () => open(node))))
    },
    async confirm(until) {
      const late = new AbortController()
      const timer = setTimeout(() => late.abort(), CONFIRM_MS_MAX + nodes.length)
      const either = AbortSignal.any([until, late.signal])
      setMaxListeners(2 * CONFIRM_LANES, either)
      await inLanes(nodes, { concurrency: CONFIRM_LANES, until }, async ({ stream }) => stream?.confirm(either))
      clearTimeout(timer)
    },
    async disconnect() {
      await Promise.all(nodes.map(async ({ stream }) => stream?.stop()))
    },
    run: acting.run,
    settle: acting.settle,
    async deregister(concurrency) {
      const leaving = nodes
      nodes = []
      // An interrupt does not leave nodes behind.
      const until = new AbortController().signal
      const terms = { operation: 'deregister', pace: createPacer(clock, DEREGISTER_PER_SECOND), until } as const
      await inLanes(leaving, { concurrency }, async ({ identity }) => {
        await patiently(deps, terms, () => client.DeleteNode({ id: identity.node_id }))
      })
    },
    identities: () => nodes.map(({ identity, stream }) => ({ ...identity, ...stream?.progress() })),
    reachability: () => tallyReachability(nodes, clock.now()),
  }
}
