import type { AgentDeps } from '../agent/agent-deps.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { Rates } from './rates.ts'

/** What a scenario changes of the world that agents live in. */
export interface Standing {
  /** What the phase says of rates, and the faults in it. */
  rates: Partial<Rates>
  /** Faults that expect the server to be away. */
  outages: number
}

/** Where faults are played. */
export interface Stage {
  readonly deps: AgentDeps
  readonly nodes: readonly SimulatedNode[]
  readonly standing: Standing
}

/** So many nodes by lot, none of those that were cut off. */
export function drawn({ deps, nodes }: Stage, count: number): readonly SimulatedNode[] {
  const left = nodes.filter(({ isCutOff }) => !isCutOff)
  return Array.from({ length: Math.min(count, left.length) }, () => {
    const [node] = left.splice(Math.floor(deps.clock.random() * left.length), 1)
    return node
  }).filter((node) => node !== undefined)
}

/** A share of the nodes by lot, one at least. */
export function drawnShare(stage: Stage, share: number): readonly SimulatedNode[] {
  return share === 0 ? [] : drawn(stage, Math.max(1, Math.round(stage.nodes.length * share)))
}
