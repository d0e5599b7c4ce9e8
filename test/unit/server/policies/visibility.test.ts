import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { differenceOf } from '../../../../src/server/policies/visibility-differences.ts'
import {
  createVisibility,
  eachPlace,
  isAmong,
  type Runs,
  type Visibility,
} from '../../../../src/server/policies/visibility.ts'
import { isOvergrown, withChanges, type World, type WorldNode } from '../../../../src/server/policies/world.ts'
import { relayTo, type RelayPair, type Relays } from '../../../../src/server/sql/edge-mode.ts'
import { canonicalize } from '../../../../src/shared/canonical-json.ts'
import type { CompiledEntry } from '../../../../src/shared/policies/rule-types.ts'
import { verdictOf, type Party } from '../../../../src/shared/policies/verdict.ts'

const IDS = Array.from({ length: 9 }, (_, index) => `01935b5e-8f3a-7c61-9d0a-00000000000${index}`)
const POLICIES = ['p1', 'p2', 'p3']
const GROUPS = [1, 2, 3]
const BRIDGES = ['b1', 'b2']
/** Nested, disjoint, one that contains all nodes, and ones that contain none. */
const CIDRS = [
  '100.64.0.0/30',
  '100.64.0.0/31',
  '100.64.0.4/32',
  '100.64.0.0/10',
  '0.0.0.0/0',
  '10.0.0.0/8',
  '2001:db8::/32',
]

const direction = fc.constantFrom('ingress' as const, 'egress' as const)
const entry: fc.Arbitrary<CompiledEntry> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ action: fc.constant('isolate' as const), direction }) },
  {
    weight: 2,
    arbitrary: fc.record({
      action: fc.constant('accept' as const),
      cidrs: fc.subarray(CIDRS, { maxLength: 1 }),
      direction,
      except_cidrs: fc.subarray(CIDRS, { maxLength: 1 }),
      except_groups: fc.subarray(GROUPS, { maxLength: 1 }),
      groups: fc.subarray([0, ...GROUPS], { maxLength: 2 }),
      ports: fc.constant([]),
      protocol: fc.constantFrom('any' as const, 'tcp' as const, 'udp' as const),
    }),
  },
)
const rules = fc
  .tuple(...POLICIES.map(() => fc.array(entry, { maxLength: 3 })))
  .map((lists) => new Map(POLICIES.map((policyId, index) => [policyId, canonicalize(lists[index] ?? [])])))

const nodeOf = (nodeId: string): fc.Arbitrary<WorldNode> =>
  fc.record({
    nodeId: fc.constant(nodeId),
    meshAddress: fc.constant(`100.64.0.${IDS.indexOf(nodeId)}`),
    groups: fc.subarray(GROUPS),
    policyIds: fc.subarray(POLICIES),
    bridgeId: fc.option(fc.constantFrom(...BRIDGES), { nil: null }),
  })
const nodes = fc.subarray(IDS).chain((ids) => fc.tuple(...ids.map(nodeOf)))
const pair: fc.Arbitrary<RelayPair> = fc.record({
  relay_node_id: fc.option(fc.constantFrom(...IDS)),
  second_relay_node_id: fc.option(fc.constantFrom(...IDS)),
})
/** The relays of the Domain and of one of the bridges or both: the other one carries nothing. */
const relays: fc.Arbitrary<Relays> = fc
  .tuple(pair, fc.subarray(BRIDGES), fc.tuple(pair, pair))
  .map(([ofDomain, bridges, pairs]) => {
    const preferred = new Map(bridges.flatMap((id, index) => (pairs[index] ? [[id, pairs[index]]] : [])))
    return { ...ofDomain, preferred }
  })

/** The ids that a node sees, as somebody would write it who looks at each pair. */
function naive(
  all: readonly WorldNode[],
  rulesOf: ReadonlyMap<string, string>,
  chosen: Relays,
): ReadonlyMap<string, readonly string[]> {
  const party = ({ meshAddress, groups, policyIds }: WorldNode): Party => ({
    meshAddress,
    groups,
    policies: policyIds.map((policyId) => ({
      policyId,
      entries: JSON.parse(rulesOf.get(policyId) ?? '[]') as CompiledEntry[],
    })),
  })
  const isThere = new Set(all.map(({ nodeId }) => nodeId))
  const edges = all.flatMap((one) =>
    all
      .filter((other) => other !== one)
      .filter(
        (other) => verdictOf(party(one), party(other), {}).allowed || verdictOf(party(other), party(one), {}).allowed,
      )
      .map((other) => [one.nodeId, other.nodeId] as const),
  )
  const seen = new Map(all.map(({ nodeId }) => [nodeId, new Set<string>()]))
  const see = (one: string, other: string): void => {
    if (one === other) return
    seen.get(one)?.add(other)
    seen.get(other)?.add(one)
  }
  for (const [from, to] of edges) {
    see(from, to)
    const relay = relayTo(to, chosen, all.find(({ nodeId }) => nodeId === to)?.bridgeId)
    if (relay === null || !isThere.has(relay) || relay === from) continue
    see(from, relay)
    see(to, relay)
  }
  return new Map(Array.from(seen, ([id, others]) => [id, [...others].toSorted()]))
}

function idsOf({ world }: Visibility, runs: Runs): string[] {
  const ids: string[] = []
  for (let at = 0; at < runs.length; at += 2) ids.push(...world.ids.slice(runs[at], runs[at + 1]))
  return ids
}

function seenIn(world: World): ReadonlyMap<string, readonly string[]> {
  const visibility = createVisibility(world)
  return new Map(world.ids.map((id, place) => [id, idsOf(visibility, visibility.seenBy(place))]))
}

const whole = (all: readonly WorldNode[], rulesOf: ReadonlyMap<string, string>, chosen: Relays): World =>
  withChanges(undefined, { revision: 1, relays: chosen, isWhole: true, rules: rulesOf, nodes: all })

describe('visibility', () => {
  test('is what the verdict on each pair says, and the relays of these edges', () => {
    fc.assert(
      fc.property(nodes, rules, relays, (all, rulesOf, chosen) => {
        const expected = naive(all, rulesOf, chosen)
        const world = whole(all, rulesOf, chosen)
        expect(seenIn(world)).toEqual(expected)
        const { sees } = createVisibility(world)
        for (const [one, id] of world.ids.entries()) {
          for (const [other, otherId] of world.ids.entries()) {
            if (one !== other) expect(sees(one, other), `${id} ${otherId}`).toBe(expected.get(id)?.includes(otherId))
          }
        }
      }),
      { numRuns: 2_000 },
    )
  })

  test('is the same where the world grew by changes and where it was read at once', () => {
    fc.assert(
      fc.property(nodes, fc.array(nodes, { maxLength: 4 }), rules, relays, (start, rounds, rulesOf, chosen) => {
        const latest = new Map(start.map((node) => [node.nodeId, node]))
        let world = whole(start, rulesOf, chosen)
        for (const [index, changed] of rounds.entries()) {
          for (const node of changed) latest.set(node.nodeId, node)
          const revision = index + 2
          world = withChanges(world, { revision, relays: chosen, isWhole: false, rules: new Map(), nodes: changed })
          expect(world.revision).toBe(revision)
          const all = [...latest.values()].toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))
          expect(seenIn(world)).toEqual(seenIn(whole(all, rulesOf, chosen)))
        }
      }),
      { numRuns: 500 },
    )
  })

  test('changed for exactly the nodes that see others among those of both worlds', () => {
    fc.assert(
      fc.property(nodes, nodes, rules, rules, fc.boolean(), (first, second, oneRules, otherRules, isSame) => {
        const before = whole(first, oneRules, NO_RELAYS)
        const after = withChanges(before, {
          revision: 2,
          relays: NO_RELAYS,
          isWhole: true,
          rules: isSame ? oneRules : otherRules,
          nodes: second,
        })
        const isInBoth = (id: string) => before.ids.includes(id) && after.ids.includes(id)
        const [was, is] = [seenIn(before), seenIn(after)]
        const among = (ids: readonly string[] | undefined) => ids?.filter(isInBoth).join()
        const expected = IDS.filter((id) => isInBoth(id) && among(was.get(id)) !== among(is.get(id)))
        const changed = differenceOf(createVisibility(before), createVisibility(after))
        expect(changed.toSorted()).toEqual(expected)
      }),
      { numRuns: 1_000 },
    )
  })

  test('finds the places of runs', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(30), { maxLength: 10 }), (places) => {
        const runs = places.toSorted((a, b) => a - b).flatMap((place) => [place, place + 1])
        for (let place = 0; place <= 31; place++) expect(isAmong(runs, place)).toBe(places.includes(place))
        const visited: number[] = []
        eachPlace(runs, (place) => void visited.push(place))
        expect(visited).toEqual(places.toSorted((a, b) => a - b))
      }),
    )
  })

  test('without policies shows everybody to everybody', () => {
    const all = IDS.map((nodeId, index) => ({ nodeId, meshAddress: `100.64.0.${index}`, groups: [], policyIds: [] }))
    const seen = seenIn(whole(all, new Map(), { relay_node_id: IDS[2] ?? null, second_relay_node_id: null }))
    for (const id of IDS) expect(seen.get(id)).toEqual(IDS.filter((other) => other !== id))
  })

  test('of nodes that are alike needs one class', () => {
    const all = IDS.map((nodeId, index) => ({
      nodeId,
      meshAddress: `100.64.0.${index}`,
      groups: [1],
      policyIds: ['p1'],
    }))
    const rulesOf = new Map([['p1', canonicalize([{ action: 'isolate', direction: 'ingress' }])]])
    expect(whole(all, rulesOf, NO_RELAYS).classes.size).toBe(1)
  })

  test('keeps the table of classes where the rules are the same, and makes another one where they are not', () => {
    const all = [{ nodeId: IDS[0] ?? '', meshAddress: '100.64.0.1', groups: [], policyIds: ['p1'] }]
    const rulesOf = new Map([['p1', '[]']])
    const world = whole(all, rulesOf, NO_RELAYS)
    const again = { revision: 2, relays: NO_RELAYS, isWhole: true, nodes: all }
    expect(withChanges(world, { ...again, rules: new Map(rulesOf) }).classes).toBe(world.classes)
    expect(withChanges(world, { ...again, rules: new Map([['p1', '[{}]']]) }).classes).not.toBe(world.classes)
  })

  test('is read whole again after many changes of classes that have no nodes any more', () => {
    const node = (group: number) => ({
      nodeId: IDS[0] ?? '',
      meshAddress: '100.64.0.1',
      groups: [group],
      policyIds: [],
    })
    let world = whole([node(1)], new Map(), NO_RELAYS)
    for (let group = 2; group <= 1_000; group++) {
      world = withChanges(world, {
        revision: group,
        relays: NO_RELAYS,
        isWhole: false,
        rules: new Map(),
        nodes: [node(group)],
      })
    }
    expect(isOvergrown(world)).toBe(false)
    world = withChanges(world, {
      revision: 1_001,
      relays: NO_RELAYS,
      isWhole: false,
      rules: new Map(),
      nodes: [node(1_001)],
    })
    expect(isOvergrown(world)).toBe(true)
    const read = withChanges(world, {
      revision: 1_002,
      relays: NO_RELAYS,
      isWhole: true,
      rules: new Map(),
      nodes: [node(1)],
    })
    expect(read.classes.size).toBe(1)
  })
})

const NO_RELAYS: Relays = { relay_node_id: null, second_relay_node_id: null }
