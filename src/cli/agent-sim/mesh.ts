import type { MeshDeps } from './agent/agent-deps.ts'
import { createEdgeLedger } from './edge-ledger.ts'
import type { AgentClock } from './fleet-deps.ts'
import { createKnownEpochs } from './known-epochs.ts'
import type { NodeWire } from './node-wire.ts'
import { createPacer } from './pacer.ts'
import { createPeerBook } from './peer-book.ts'
import type { Habits } from './plan.ts'
import { neighboursOf } from './ring.ts'
import type { SimulatedNode } from './simulated-node.ts'
import type { PullsOver } from './state-pulls.ts'
import { createTurnstile } from './paced-limiter.ts'

/** What the simulator does of each at most, on two cores beside a server. */
const PULLS_PER_SECOND = 500
const PULLED_BYTES_PER_SECOND = 150 * 1024 * 1024
const PEER_BYTES = 280
const EDGE_KEYS_PER_SECOND = 500
const DIGESTED_EDGES_PER_SECOND = 400_000
const DIGESTS_PER_SECOND = 200
/** And at once, so that connections are left for heartbeats and for what somebody waits for. */
const LANES = { pulls: 8, edgeKeys: 12, digests: 4 } as const
/** Agents of larger fleets do not pull when they start: the server asks them to. */
const PULLS_AT_START_NODES = 2_000

interface MeshOptions {
  readonly clock: AgentClock
  readonly wire: Pick<NodeWire, 'fetchEdgeKey'>
  readonly pulls: PullsOver
  readonly habits: Habits
  /** Nodes that the fleet is to have. */
  readonly size: number
  readonly nodes: () => readonly SimulatedNode[]
}

/** Makes what the agents of a fleet share of the mesh. */
export function createMesh({ clock, wire, pulls, habits, size, nodes }: MeshOptions): MeshDeps {
  const asked = (size * habits.rates.pulls) / 60
  const digestible = Math.min(DIGESTS_PER_SECOND, DIGESTED_EDGES_PER_SECOND / size)
  const bearable = Math.min(PULLS_PER_SECOND, PULLED_BYTES_PER_SECOND / (PEER_BYTES * size))
  const book = createPeerBook()
  return {
    wire,
    habits,
    book,
    digest: createKnownEpochs(book),
    pull: pulls(book),
    ledger: createEdgeLedger(),
    turnstiles: {
      pulls: createTurnstile(createPacer(clock, Math.max(bearable, 2 * asked)), LANES.pulls),
      edgeKeys: createTurnstile(createPacer(clock, EDGE_KEYS_PER_SECOND), LANES.edgeKeys),
      digests: createTurnstile(createPacer(clock, Math.max(1, digestible)), LANES.digests),
    },
    pullsAtStart: size <= PULLS_AT_START_NODES,
    neighbours: (place) => neighboursOf(nodes(), place, habits.edges),
  }
}
