import { ProblemAnswer } from '../../client/failures.ts'
import type { FleetDeps } from './fleet-deps.ts'
import { generateMeshKey } from './mesh-key.ts'
import { measure } from './measure.ts'
import { reportHeartbeats } from './node-agent.ts'
import { createPacer, type Pacer } from './pacer.ts'
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
/** A node that was sent away so often is left out. */
const ENROL_TRIES_MAX = 10

interface Enrolling {
  readonly joinToken: string
  readonly pace: Pacer
  readonly until: AbortSignal
}

/** How long a rate limit asks to wait, in ms; undefined for every other failure. */
function waitAskedFor(error: unknown): number | undefined {
  const isLimited = error instanceof ProblemAnswer && error.status === 429
  return isLimited ? (error.retryAfterSeconds ?? 1) * 1000 : undefined
}

/** Makes an empty fleet. */
export function createFleet(deps: FleetDeps): Fleet {
  const { client, clock, statistics } = deps
  let nodes: SimulatedNode[] = []

  async function enrol(name: string, { joinToken, pace, until }: Enrolling): Promise<void> {
    const key = generateMeshKey()
    const body = { name, kind: 'worker', public_key: key.publicKey, binary_version: BINARY_VERSION }
    for (let tries = 1; tries <= ENROL_TRIES_MAX; tries += 1) {
      await pace(until)
      if (until.aborted) return
      let waitMs: number | undefined
      const answer = await measure(statistics, 'register', () =>
        client.RegisterNode({ body }, { token: joinToken }).catch((error: unknown) => {
          waitMs = waitAskedFor(error)
          throw error
        }),
      )
      if (answer !== undefined) {
        const identity = { node_id: answer.node_id, name, nsk: answer.nsk, private_key: key.privateKey }
        nodes.push({ identity, lastAcceptedMs: undefined })
      }
      if (waitMs === undefined) return
      await clock.pause(waitMs, until)
    }
  }

  return {
    size: () => nodes.length,
    register({ joinToken, names, ...limits }) {
      const enrolling = { joinToken, until: limits.until, pace: createPacer(clock, ENROL_PER_SECOND) }
      return inLanes(names, limits, (name) => enrol(name, enrolling))
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
      await inLanes(leaving, { concurrency }, async ({ identity }) => {
        await measure(statistics, 'deregister', () => client.DeleteNode({ id: identity.node_id }))
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
