import type { AgentDeps, MemberActions, MeshParts } from '../../../client/agent/agent-deps.ts'
import type { EdgeLedger } from '../edge-ledger.ts'
import type { FleetDeps } from '../fleet-deps.ts'
import type { DigestKnown } from '../known-epochs.ts'
import type { Habits } from '../plan.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { WantedRelease } from '../wanted-release.ts'

/** Additional dependencies of simulated agents that take part in the mesh. */
export interface SimulatedMesh extends MeshParts {
  readonly digest: DigestKnown
  readonly ledger: EdgeLedger
  readonly habits: Habits
  readonly wanted: WantedRelease
  /** Whether agents pull their state when they start. In large fleets they wait for a request of the server. */
  readonly pullsAtStart: boolean
  /** Whether the simulator made a bridge that the node hosts (`--bridges`). */
  readonly isMadeHost: (nodeId: string) => boolean
  /** Ids of the sampled peers of a node, by its index in the fleet. */
  readonly neighbours: (place: number) => readonly string[]
}

/** What both kinds of simulated agents need to call the server. */
export interface CallingDeps extends AgentDeps, FleetDeps {
  readonly statistics: FleetDeps['statistics']
}

/** The dependencies of simulated agents. */
export interface SimulatedDeps extends CallingDeps {
  readonly actions: MemberActions<SimulatedNode>
  /** Undefined with `--no-mesh`: agents only send heartbeats and hold event streams. */
  readonly mesh: SimulatedMesh | undefined
}

/** The dependencies of simulated agents that take part in the mesh. */
export type MeshAgentDeps = SimulatedDeps & { readonly mesh: SimulatedMesh }

export function takesPart(deps: SimulatedDeps): deps is MeshAgentDeps {
  return deps.mesh !== undefined
}
