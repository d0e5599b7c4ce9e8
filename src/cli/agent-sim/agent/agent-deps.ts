import type { SimulatedOperation } from '../counts.ts'
import type { EdgeLedger } from '../edge-ledger.ts'
import type { Errands } from '../errands.ts'
import type { FleetDeps } from '../fleet-deps.ts'
import type { DigestKnown } from '../known-epochs.ts'
import type { NodeWire } from '../node-wire.ts'
import type { PeerBook } from '../peer-book.ts'
import type { Habits } from '../plan.ts'
import type { PullState } from '../state-pulls.ts'
import type { Turnstile } from '../paced-limiter.ts'
import type { Wheel } from '../timer-wheel.ts'

/** What agents that do more than report their heartbeats work with. */
export interface MeshDeps {
  readonly wire: Pick<NodeWire, 'fetchEdgeKey'>
  readonly pull: PullState
  readonly book: PeerBook
  readonly digest: DigestKnown
  readonly ledger: EdgeLedger
  readonly habits: Habits
  /** Across the fleet, so that ten thousand agents do not do the same at the same time. */
  readonly turnstiles: { readonly pulls: Turnstile; readonly edgeKeys: Turnstile; readonly digests: Turnstile }
  /** Agents pull their state when they start. Of a huge fleet they wait until the server asks them to. */
  readonly pullsAtStart: boolean
  /** The sampled peers of a node, by its place in the fleet. */
  readonly neighbours: (place: number) => readonly string[]
}

/** What one agent works with. */
export interface AgentDeps extends FleetDeps {
  readonly wheel: Wheel
  readonly errands: Errands
  /** Nothing is begun any more once it is aborted. */
  readonly until: AbortSignal
  /** What this server does not have: it is not asked for again. */
  readonly absent: Set<SimulatedOperation>
  /** Whether the scenario expects the server to be away now. */
  readonly isOutage: () => boolean
  /** Undefined where agents only report heartbeats and hold their streams. */
  readonly mesh: MeshDeps | undefined
}

/** Those of an agent that takes part in the mesh. */
export type MeshAgentDeps = AgentDeps & { readonly mesh: MeshDeps }

export function takesPart(deps: AgentDeps): deps is MeshAgentDeps {
  return deps.mesh !== undefined
}
