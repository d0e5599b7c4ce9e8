import type { SimulatedNode } from './simulated-node.ts'
import type { Statistics } from './statistics.ts'

/** Why an agent could not be compared: it pulls its state, it rotates its keys, or its state could not be pulled for the comparison. */
export type UnsettledCause = 'pulling' | 'rotating' | 'not_pulled'

/** Agents that could not be compared at the end, each with the first cause that was found. */
export interface UnsettledAgents {
  add(node: SimulatedNode, cause: UnsettledCause): void
  /** Counts each agent once. Called at the end of the comparisons. */
  countTo(statistics: Pick<Statistics, 'count'>): void
}

export function createUnsettledAgents(): UnsettledAgents {
  const causes = new Map<SimulatedNode, UnsettledCause>()
  const numberOf = (cause: UnsettledCause): number => [...causes.values()].filter((each) => each === cause).length
  return {
    add(node, cause) {
      if (!causes.has(node)) causes.set(node, cause)
    },
    countTo(statistics) {
      statistics.count('unsettled', causes.size)
      statistics.count('unsettled_pulling', numberOf('pulling'))
      statistics.count('unsettled_rotating', numberOf('rotating'))
    },
  }
}
