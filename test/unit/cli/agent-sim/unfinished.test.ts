import { describe, expect, test } from 'vitest'
import { unfinishedTexts } from '../../../../src/cli/agent-sim/unfinished.ts'
import type { SimulationPlan } from '../../../../src/cli/agent-sim/plan.ts'
import type { FailureCount } from '../../../../src/cli/agent-sim/statistics.ts'

interface End {
  readonly unregisteredNodes?: number
  readonly leftNodes?: number
  readonly interrupted?: boolean
  readonly counts?: Readonly<Record<string, number>>
  readonly failures?: readonly FailureCount[]
}

function textsOf({ counts = {}, failures = [], ...end }: End): readonly string[] {
  // Only two members of a plan are read.
  const plan = { nodes: 50, deregister: true } as SimulationPlan
  const summary = { counts, failures, expected: [], operations: [], percentileMs: () => 0 }
  return unfinishedTexts(plan, { unregisteredNodes: 0, leftNodes: 0, interrupted: false, ...end, summary })
}

describe('Nodes that did not finish', () => {
  test('are not mentioned where all did', () => {
    expect(textsOf({ failures: [{ operation: 'register', code: 'rate_limited', count: 3 }] })).toEqual([])
  })

  test('are counted with the reasons of their registration', () => {
    const failures = [
      { operation: 'heartbeat', code: 'internal', count: 90 },
      { operation: 'register', code: 'capacity_exceeded', dimension: 'nodes', count: 12 },
      { operation: 'register', code: 'timeout', count: 4 },
    ]
    expect(textsOf({ unregisteredNodes: 16, failures })).toEqual([
      '16 of 50 nodes were not registered and took no part: capacity_exceeded (nodes), timeout.',
    ])
    expect(textsOf({ unregisteredNodes: 16, interrupted: true })).toEqual([
      '16 of 50 nodes were not registered and took no part: the run was interrupted.',
    ])
  })

  test('are counted by what they still did at the end', () => {
    expect(textsOf({ counts: { unsettled: 16, unsettled_pulling: 9, unsettled_rotating: 4 } })).toEqual([
      '16 of 50 agents did not finish and were not compared with the server: 9 still pulled their state; 4 still rotated their keys; 3 got no state to compare with, or the run ended before. Give the run fewer changes or a longer --duration.',
    ])
  })

  test('are counted where they could not be deregistered', () => {
    expect(textsOf({ leftNodes: 2, failures: [{ operation: 'deregister', code: 'rate_limited', count: 20 }] })).toEqual(
      ['2 nodes were not deregistered: rate_limited. See them with: ctl nodes list'],
    )
  })
})
