import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareReach, type PairCount } from '../../../../../src/server/slices/policies/compare-reach.ts'
import {
  classifyNodes,
  policiesAt,
  type ClassedPolicy,
} from '../../../../../src/server/slices/policies/node-classes.ts'
import type { NodeParty } from '../../../../../src/server/slices/policies/parties-store.ts'
import { compilePolicy } from '../../../../../src/shared/policies/compile-policy.ts'
import type { AuthoredPolicy } from '../../../../../src/shared/policies/rule-types.ts'
import { prepareParty, verdictOf, type Flow, type PreparedParty } from '../../../../../src/shared/policies/verdict.ts'
import { authoredPolicy, groupOf, PORTS_ASKED } from '../../../../support/policies/policy-worlds.ts'

/** Port 10 stands for those between the ports that policies name. */
const FLOWS: readonly Flow[] = [
  ...[...PORTS_ASKED, 10].flatMap((port) => [
    { protocol: 'tcp' as const, port },
    { protocol: 'udp' as const, port },
  ]),
  { protocol: 'icmp' },
]

interface Change {
  readonly policies: readonly ClassedPolicy[]
  readonly before: readonly NodeParty[]
  readonly after: readonly NodeParty[]
}

const compiled = (policies: readonly AuthoredPolicy[]): readonly ClassedPolicy[] =>
  policies.map((policy, index) => ({ id: `p${index}`, entries: compilePolicy(policy, groupOf).rules }))

const nodeOf = (place: number, groups: readonly number[], policies: readonly number[]): NodeParty => ({
  id: `n${place}`,
  name: `node-${place}`,
  projectId: null,
  meshAddress: `100.64.0.${place}`,
  groups: `{${groups.join(',')}}`,
  policies: policies.join(','),
})

const INDEXES = [0, 1, 2, 3]
const placed = fc.record({
  groups: fc.subarray([1, 2, 3]),
  before: fc.subarray(INDEXES),
  after: fc.subarray(INDEXES),
  isKept: fc.boolean(),
})
const change: fc.Arbitrary<Change> = fc
  .record({
    policies: fc.array(authoredPolicy, { minLength: INDEXES.length, maxLength: INDEXES.length }),
    nodes: fc.array(placed, { minLength: 2, maxLength: 6 }),
  })
  .map(({ policies, nodes }) => ({
    policies: compiled(policies),
    before: nodes.map(({ groups, before }, index) => nodeOf(index + 1, groups, before)),
    after: nodes.map(({ groups, before, after, isKept }, index) => nodeOf(index + 1, groups, isKept ? before : after)),
  }))

const partyOf = ({ groups, meshAddress, policies }: NodeParty, all: readonly ClassedPolicy[]): PreparedParty =>
  prepareParty({
    groups: groups.slice(1, -1).split(',').filter(Boolean).map(Number),
    meshAddress,
    policies: policiesAt(policies).map((index) => ({ policyId: `p${index}`, entries: all[index]?.entries ?? [] })),
  })

/** Asks for each flow between each two nodes. */
function naively({ policies, before, after }: Change): Record<'gained' | 'lost', string[]> {
  const found = { gained: new Set<string>(), lost: new Set<string>() }
  const [then, now] = [before, after].map((nodes) => nodes.map((node) => partyOf(node, policies)))
  const allows = (parties: readonly PreparedParty[] | undefined, [from, to]: readonly [number, number], flow: Flow) => {
    const [one, other] = [parties?.[from], parties?.[to]]
    return one !== undefined && other !== undefined && verdictOf(one, other, flow).allowed
  }
  const pairs = [...before.keys()].flatMap((from) => [...before.keys()].map((to) => [from, to] as const))
  for (const [from, to] of pairs.filter(([one, other]) => one !== other)) {
    for (const flow of FLOWS) {
      const [passed, passes] = [allows(then, [from, to], flow), allows(now, [from, to], flow)]
      if (passed !== passes) found[passes ? 'gained' : 'lost'].add(`n${from + 1} n${to + 1}`)
    }
  }
  return { gained: [...found.gained].toSorted(), lost: [...found.lost].toSorted() }
}

const pairsOf = ({ sample }: PairCount) => sample.map((pair) => `${pair.from_node_id} ${pair.to_node_id}`).toSorted()

async function compare({ policies, before, after }: Change) {
  const { gained, lost } = await compareReach(classifyNodes(before, policies), classifyNodes(after, policies), policies)
  expect([gained.count, lost.count]).toEqual([gained.sample.length, lost.sample.length])
  return { gained: pairsOf(gained), lost: pairsOf(lost) }
}

describe('The pairs of nodes that a change of policies gains and loses', () => {
  it('are those with a flow that passes only afterwards, or only before', async () => {
    await fc.assert(
      fc.asyncProperty(change, async (one) => {
        expect(await compare(one)).toEqual(naively(one))
      }),
      { numRuns: 200 },
    )
  })

  const tcp = (...ports: string[]): AuthoredPolicy => ({
    rules: [{ direction: 'ingress', peers: '*', protocol: 'tcp', ports }],
  })
  const any: AuthoredPolicy = { rules: [{ direction: 'ingress', peers: '*', protocol: 'any' }] }

  it.each([
    ['another port', tcp('8080'), tcp('22', '8080'), [1, 0]],
    ['every protocol', tcp('8080'), any, [1, 0]],
    ['fewer ports', tcp('8000-8100'), tcp('8000-8099'), [0, 1]],
    ['other ports', tcp('8080'), tcp('22'), [1, 1]],
    ['the same ports in other words', tcp('22-80'), tcp('22-50', '51-80'), [0, 0]],
  ])('are counted for %s', async (_, former, later, counts) => {
    const nodes = (policy: number) => [nodeOf(1, [], []), nodeOf(2, [], [policy])]
    const { gained, lost } = await compare({ policies: compiled([former, later]), before: nodes(0), after: nodes(1) })
    expect([gained.length, lost.length]).toEqual(counts)
  })
})
