import type { SimulatedOperation } from '../counts.ts'
import type { EdgeLedger } from '../edge-ledger.ts'
import type { TaskTracker } from '../task-tracker.ts'
import type { FleetDeps } from '../fleet-deps.ts'
import type { DigestKnown } from '../known-epochs.ts'
import type { NodeWire } from '../node-wire.ts'
import type { PeerBook } from '../peer-book.ts'
import type { BridgeBook } from '../bridge-book.ts'
import type { PolicyBook } from '../policy-book.ts'
import type { Habits } from '../plan.ts'
import type { PullState } from '../state-pulls.ts'
import type { PacedLimiter } from '../paced-limiter.ts'
import type { WantedRelease } from '../wanted-release.ts'
import type { TimerWheel } from '../timer-wheel.ts'

/** Additional dependencies of agents that take part in the mesh. */
export interface MeshDeps {
  readonly wire: Pick<NodeWire, 'fetchEdgeKey' | 'fetchSecret'>
  readonly pull: PullState
  readonly book: PeerBook
  readonly policies: PolicyBook
  readonly bridges: BridgeBook
  readonly digest: DigestKnown
  readonly ledger: EdgeLedger
  readonly habits: Habits
  readonly wanted: WantedRelease
  /** Limits for the whole fleet, so that ten thousand agents do not make the same call at once. */
  readonly limiters: Readonly<Record<'pulls' | 'edgeKeys' | 'digests' | 'secrets', PacedLimiter>>
  /** Whether agents pull their state when they start. In large fleets they wait for a request of the server. */
  readonly pullsAtStart: boolean
  /** Whether the simulator made a bridge that the node hosts (`--bridges`). */
  readonly isMadeHost: (nodeId: string) => boolean
  /** Ids of the sampled peers of a node, by its index in the fleet. */
  readonly neighbours: (place: number) => readonly string[]
}

/** The dependencies of an agent. */
export interface AgentDeps extends FleetDeps {
  readonly wheel: TimerWheel
  readonly tasks: TaskTracker
  /** Agents start nothing after it is aborted. */
  readonly until: AbortSignal
  /** Operations that the server does not provide; they are not called again. */
  readonly notProvisioned: Set<SimulatedOperation>
  /** Whether the scenario expects an outage now. */
  readonly isOutage: () => boolean
  /** Undefined with `--no-mesh`: agents only send heartbeats and hold event streams. */
  readonly mesh: MeshDeps | undefined
}

/** The dependencies of an agent that takes part in the mesh. */
export type MeshAgentDeps = AgentDeps & { readonly mesh: MeshDeps }

export function takesPart(deps: AgentDeps): deps is MeshAgentDeps {
  return deps.mesh !== undefined
}
