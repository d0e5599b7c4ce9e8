import type { SimulationPlan } from './plan.ts'
import type { SimulationResult } from './simulation.ts'
import { reasonOf, type Summary } from './statistics.ts'

type Ended = Pick<SimulationResult, 'unregisteredNodes' | 'leftNodes' | 'interrupted' | 'summary'>

/** Sentences on the nodes that did not get to the end of the run: how many, and why. None where all did. */
export function unfinishedTexts({ nodes, deregister }: SimulationPlan, ended: Ended): readonly string[] {
  const { unregisteredNodes, leftNodes, summary } = ended
  return [
    ...(unregisteredNodes > 0
      ? [
          `${unregisteredNodes} of ${nodes} nodes were not registered and took no part: ${whyFailed('register', ended)}.`,
        ]
      : []),
    ...unsettledTexts(summary.counts, nodes),
    ...(deregister && leftNodes > 0
      ? [`${leftNodes} nodes were not deregistered: ${whyFailed('deregister', ended)}. See them with: ctl nodes list`]
      : []),
  ]
}

/** The codes of failed calls of the operation, the most frequent first. */
function whyFailed(operation: string, { summary, interrupted }: Ended): string {
  const reasons = summary.failures.filter((failure) => failure.operation === operation).map(reasonOf)
  const all = [...new Set([...reasons, ...(interrupted ? ['the run was interrupted'] : [])])]
  return all.length === 0 ? 'no call was answered' : all.join(', ')
}

function unsettledTexts(counts: Summary['counts'], nodes: number): readonly string[] {
  const { unsettled = 0, unsettled_pulling: pulling = 0, unsettled_rotating: rotating = 0 } = counts
  if (unsettled === 0) return []
  const causes = [
    [pulling, 'still pulled their state'],
    [rotating, 'still rotated their keys'],
    [unsettled - pulling - rotating, 'got no state to compare with, or the run ended before'],
  ] as const
  const why = causes.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`)
  return [
    `${unsettled} of ${nodes} agents did not finish and were not compared with the server: ${why.join('; ')}. Give the run fewer changes or a longer --duration.`,
  ]
}
