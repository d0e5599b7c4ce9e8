import type { SimulatedMesh } from './agent/agent-deps.ts'
import { createEdgeLedger } from './edge-ledger.ts'
import { createBridgeBook } from '../../client/agent/bridges/bridge-book.ts'
import type { AgentClock } from '../../client/agent/agent-clock.ts'
import { createKnownEpochs } from './known-epochs.ts'
import type { MeshCalls } from '../../client/agent/agent-deps.ts'
import { createPacer } from '../../client/agent/calls/pacer.ts'
import { createPeerBook } from '../../client/agent/peers/peer-book.ts'
import type { Habits } from './plan.ts'
import { createPolicyBook } from '../../client/agent/policies/policy-book.ts'
import { createNeighbours } from './neighbours.ts'
import { pullsPerSecond } from './pull-pace.ts'
import type { SimulatedNode } from './simulated-node.ts'
import type { PullsOver } from '../../client/agent/state/state-pulls.ts'
import { createPacedLimiter } from '../../client/agent/calls/paced-limiter.ts'
import { createWantedRelease } from './wanted-release.ts'

/** Further rate limits of the simulator, beside those of pulls. */
const EDGE_KEYS_PER_SECOND = 500
const SECRETS_PER_SECOND = 500
const DIGESTED_EDGES_PER_SECOND = 400_000
const DIGESTS_PER_SECOND = 200
/** Concurrency limits, which leave connections for heartbeats and urgent calls. */
const CONCURRENCY = { pulls: 8, edgeKeys: 12, digests: 4, secrets: 8 } as const
/** In larger fleets agents do not pull when they start. They wait for a request of the server. */
const PULLS_AT_START_NODES = 2_000

interface MeshOptions {
  readonly clock: AgentClock
  readonly wire: MeshCalls
  readonly pulls: PullsOver
  readonly habits: Habits
  /** Planned number of nodes. */
  readonly size: number
  readonly nodes: () => readonly SimulatedNode[]
  readonly isMadeHost: SimulatedMesh['isMadeHost']
}

/** Makes the mesh state and limiters that the agents of a fleet share. */
export function createMesh({ clock, wire, pulls, habits, size, nodes, isMadeHost }: MeshOptions): SimulatedMesh {
  const plannedPulls = (size * habits.rates.pulls) / 60
  const digestsPerSecond = Math.min(DIGESTS_PER_SECOND, DIGESTED_EDGES_PER_SECOND / size)
  const book = createPeerBook()
  return {
    wire,
    habits,
    wanted: createWantedRelease(),
    book,
    policies: createPolicyBook(),
    bridges: createBridgeBook(),
    digest: createKnownEpochs(book),
    pull: pulls(book),
    ledger: createEdgeLedger(),
    limiters: {
      pulls: createPacedLimiter(
        createPacer(clock, Math.max(pullsPerSecond(size), 2 * plannedPulls)),
        CONCURRENCY.pulls,
      ),
      edgeKeys: createPacedLimiter(createPacer(clock, EDGE_KEYS_PER_SECOND), CONCURRENCY.edgeKeys),
      secrets: createPacedLimiter(createPacer(clock, SECRETS_PER_SECOND), CONCURRENCY.secrets),
      digests: createPacedLimiter(createPacer(clock, Math.max(1, digestsPerSecond)), CONCURRENCY.digests),
    },
    pullsAtStart: size <= PULLS_AT_START_NODES,
    isMadeHost,
    neighbours: createNeighbours(nodes, habits.edges),
  }
}
