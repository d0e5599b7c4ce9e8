import type { SimulatedDeps } from '../agent/agent-deps.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { Rates } from './rates.ts'

/** What the running phase changes for all agents. */
export interface PhaseState {
  /** Rates that the phase or its faults set. */
  rates: Partial<Rates>
  /** Number of running faults that expect an outage. */
  outages: number
}

/** The fleet to which a scenario applies its faults. */
export interface Stage {
  readonly deps: SimulatedDeps
  readonly nodes: readonly SimulatedNode[]
  readonly phaseState: PhaseState
}

/** Up to `count` random nodes whose keys are not revoked. */
export function randomNodes({ deps, nodes }: Stage, count: number): readonly SimulatedNode[] {
  const left = nodes.filter(({ isRevoked }) => !isRevoked)
  return Array.from({ length: Math.min(count, left.length) }, () => {
    const [node] = left.splice(Math.floor(deps.clock.random() * left.length), 1)
    return node
  }).filter((node) => node !== undefined)
}

/** A random share of the nodes, at least one unless the share is 0. */
export function randomShare(stage: Stage, share: number): readonly SimulatedNode[] {
  return share === 0 ? [] : randomNodes(stage, Math.max(1, Math.round(stage.nodes.length * share)))
}
