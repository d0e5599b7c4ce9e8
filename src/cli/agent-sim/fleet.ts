import type { FleetDeps } from './fleet-deps.ts'
import { generateMeshKey } from './mesh-key.ts'
import { reportHeartbeats } from './node-agent.ts'
import { createPacer } from './pacer.ts'
import { patiently, type Terms } from './patience.ts'
import type { NodeIdentity } from './state-directory.ts'
import { tallyReachability, type SimulatedNode } from './simulated-node.ts'

export interface RegistrationPlan {
  readonly joinToken: string
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
  /** Enrols the planned nodes; a refused one is counted and left out. Resolves when all were tried. */
  register(plan: RegistrationPlan): Promise<void>
  /** Takes over nodes of an earlier run. */
  resume(nodes: readonly NodeIdentity[]): void
  /** Lets every agent report at its interval, spread over it, until the signal; resolves when the last call has ended. */
  run(heartbeatIntervalMs: number, until: AbortSignal): Promise<void>
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

/** Makes an empty fleet. */
export function createFleet(deps: FleetDeps): Fleet {
  const { client, clock } = deps
  let nodes: SimulatedNode[] = []

  async function enrol(name: string, joinToken: string, terms: Terms): Promise<void> {
    const key = generateMeshKey()
    const body = { name, kind: 'worker', public_key: key.publicKey, binary_version: BINARY_VERSION }
    const enrolled = await patiently(deps, terms, () => client.RegisterNode({ body }, { token: joinToken }))
    if (enrolled === undefined) return
    const { node_id, nsk } = enrolled.answer
    nodes.push({ identity: { node_id, name, nsk, private_key: key.privateKey }, lastAcceptedMs: undefined })
  }

  return {
    size: () => nodes.length,
    register({ joinToken, names, ...limits }) {
      const terms = { operation: 'register', pace: createPacer(clock, ENROL_PER_SECOND), until: limits.until } as const
      return inLanes(names, limits, (name) => enrol(name, joinToken, terms))
    },
    resume(earlier) {
      nodes.push(...earlier.map((identity) => ({ identity, lastAcceptedMs: undefined })))
    },
    async run(heartbeatIntervalMs, until) {
      await Promise.all(nodes.map((node) => reportHeartbeats(deps, node, { intervalMs: heartbeatIntervalMs, until })))
    },
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
    identities: () => nodes.map(({ identity }) => identity),
    reachability: () => tallyReachability(nodes, deps.clock.now()),
  }
}

/** Works through the items, so many at once; begins none after `until`. */
async function inLanes<T>(
  items: readonly T[],
  { concurrency, until }: { readonly concurrency: number; readonly until?: AbortSignal },
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values()
  const lane = async (): Promise<void> => {
    for (const item of waiting) {
      if (until?.aborted === true) return
      await work(item)
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, lane))
}
