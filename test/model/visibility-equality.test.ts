import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRelayChoice } from '../../src/server/slices/mesh/relay-choice.ts'
import { createReachabilitySweeper } from '../../src/server/slices/nodes/reachability-sweeper.ts'
import { readEntries } from '../../src/shared/policies/read-entries.ts'
import type { CompiledEntry } from '../../src/shared/policies/rule-types.ts'
import { mayExchange, type Party } from '../../src/shared/policies/verdict.ts'
import { startActingReplicas, type ActingReplicas, type PulledText } from '../support/server/acting-replicas.ts'
import { unfenced } from '../support/datastores/leading.ts'
import { STORES } from '../support/datastores/stores.ts'
import { accepts, isolates, visibilityRows } from '../support/fleet/visibility-rows.ts'
import { depth } from '../support/run/depth.ts'
import { DEEDS, type Member } from './state-deeds.ts'
import { relayLabels } from '../support/fleet/relay-labels.ts'

const GROUPS = [1, 2, 3]
/** Rules that isolate, and open what they isolate in several ways. */
const RULES: readonly (readonly CompiledEntry[])[] = [
  [],
  [isolates('ingress')],
  [isolates('egress'), isolates('ingress')],
  [isolates('egress'), isolates('ingress'), accepts('egress', [1]), accepts('ingress', [1, 2])],
  [isolates('egress'), isolates('ingress'), accepts('ingress', [0], { except_groups: [3] })],
  [isolates('egress'), isolates('ingress'), accepts('egress', [], { cidrs: ['100.64.0.0/30'] })],
]

/** What happens to the Domain; numbers choose among the nodes and policies that there are. */
type Step =
  | { readonly does: 'endpoint' | 'beat' | 'rotate' | 'complete' | 'deregister' | 'join'; readonly of: number }
  | {
      readonly does: 'place'
      readonly of: number
      readonly groups: readonly number[]
      readonly policies: readonly number[]
    }
  | { readonly does: 'policy'; readonly of: number; readonly rules: number; readonly nodes: readonly number[] }
  | { readonly does: 'unpolicy'; readonly of: number }
  | { readonly does: 'choose' }
  | { readonly does: 'prefer'; readonly of: number; readonly bridge: number | null; readonly isOfDomain: boolean }
  | { readonly does: 'show'; readonly visibility: 'all' | 'reachable' }

const node = fc.nat(5)
const policy = fc.nat(1)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constantFrom('endpoint' as const, 'beat' as const), of: node }) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constantFrom('rotate' as const, 'complete' as const, 'deregister' as const, 'join' as const),
      of: node,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('place' as const),
      of: node,
      groups: fc.subarray(GROUPS),
      policies: fc.subarray([0, 1]),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('policy' as const),
      of: policy,
      rules: fc.nat(RULES.length - 1),
      nodes: fc.subarray([0, 1, 2, 3, 4, 5]),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('unpolicy' as const), of: policy }) },
  { weight: 3, arbitrary: fc.constant({ does: 'choose' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('prefer' as const),
      of: node,
      bridge: fc.option(fc.nat(1)),
      isOfDomain: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant('show' as const),
      visibility: fc.constantFrom('all' as const, 'reachable' as const, 'reachable' as const),
    }),
  },
)
/** What happens at once, and which replicas have pulled before. */
const turns = fc.array(
  fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 3 }), readers: fc.subarray([0, 1]) }),
  { minLength: 3, maxLength: depth({ ci: 10, deep: 30 }) },
)

interface World {
  readonly domain: string
  readonly project: string
  readonly policyIds: readonly string[]
  readonly bridges: string[]
  readonly members: Member[]
}

describe.each(STORES)('What nodes see under random policies on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let replicas: ActingReplicas
    let rows: ReturnType<typeof visibilityRows>
    let labels: ReturnType<typeof relayLabels>
    beforeAll(async () => {
      replicas = await startActingReplicas(store)
      rows = visibilityRows(replicas.fleet)
      labels = relayLabels(replicas.fleet)
    }, 120_000)
    afterAll(() => replicas?.stop())

    const memberOf = ({ members }: World, of: number) => members[of % Math.max(1, members.length)]

    const nodeKey = (id: string) => ({ kind: 'node', id }) as const

    async function join({ domain, members }: World): Promise<void> {
      if (members.length >= 6) return
      const { node_id, nsk } = await replicas.fleet.enrol(domain)
      members.push({ node_id, nsk })
    }

    async function choose(): Promise<void> {
      await labels.follow()
      for (const make of [createReachabilitySweeper, createRelayChoice])
        await make(replicas.fleet).run(unfenced(replicas.fleet))
    }

    async function take(world: World, done: Step): Promise<unknown> {
      const { domain, policyIds, members } = world
      const policyId = (of: number): string => policyIds[of] ?? ''
      if (done.does === 'choose') return choose()
      if (done.does === 'show')
        return replicas.call(0, replicas.fleet.root, `PATCH /v1/domains/${domain}`, {
          peer_visibility: done.visibility,
        })
      if (done.does === 'unpolicy') return rows.withoutPolicy(domain, policyId(done.of))
      if (done.does === 'policy') {
        const nodeIds = [...new Set(done.nodes.flatMap((of) => memberOf(world, of)?.node_id ?? []))]
        return rows.policy(domain, { id: policyId(done.of), rules: RULES[done.rules] ?? [], nodeIds })
      }
      if (done.does === 'join') return join(world)
      const member = memberOf(world, done.of)
      if (member === undefined) return undefined
      if (done.does === 'place') {
        const { groups, policies } = done
        return rows.place(domain, member.node_id, { groups, policyIds: policies.map(policyId) })
      }
      if (done.does === 'prefer') {
        const object = done.isOfDomain ? ({ kind: 'domain', id: domain } as const) : nodeKey(member.node_id)
        return labels.prefer(object, done.bridge === null ? null : (world.bridges[done.bridge] ?? null))
      }
      if (done.does === 'deregister') members.splice(members.indexOf(member), 1)
      const occasion = { replicas, member, via: done.of % 2, variant: done.of % 4, projectId: world.project }
      return DEEDS[done.does](occasion)
    }

    async function begin(): Promise<World> {
      const { fleet } = replicas
      const domain = await fleet.domain()
      const project = await fleet.project(domain)
      const world: World = {
        domain,
        project,
        policyIds: [fleet.ids.next(), fleet.ids.next()],
        bridges: [],
        members: [],
      }
      for (let count = 0; count < 4; count++) await join(world)
      const hostIds = world.members.map(({ node_id }) => node_id)
      world.bridges.push(await labels.bridge(project, hostIds.slice(0, 2)))
      world.bridges.push(await labels.bridge(project, hostIds.slice(1, 3), 51_900))
      for (const [via, member] of world.members.slice(0, 3).entries())
        await DEEDS.beat({ replicas, member, via, variant: via, projectId: project })
      await choose()
      await take(world, { does: 'show', visibility: 'reachable' })
      return world
    }

    /** The ids that each node should see, by each pair of the rows as they are. */
    async function expected(domain: string): Promise<ReadonlyMap<string, readonly string[]>> {
      const { db } = replicas.fleet
      const setting = await db
        .selectFrom('domains')
        .select('peer_visibility')
        .where('id', '=', domain)
        .executeTakeFirst()
      const nodes = await db.selectFrom('nodes').selectAll().where('domain_id', '=', domain).orderBy('id').execute()
      const matches = await db.selectFrom('policy_matches').selectAll().execute()
      const rules = await db
        .selectFrom('policies as p')
        .innerJoin('policy_revisions as r', 'r.id', 'p.revision_id')
        .select(['p.id', 'r.rules'])
        .where('p.domain_id', '=', domain)
        .execute()
      const relays = await db.selectFrom('domain_peers').selectAll().where('domain_id', '=', domain).executeTakeFirst()
      const choices = await db.selectFrom('relay_choices').selectAll().where('domain_id', '=', domain).execute()
      const preferences = await db.selectFrom('relay_preferences').selectAll().where('domain_id', '=', domain).execute()
      const relayOf = (id: string): string | null => {
        const preferred = preferences.find(({ node_id }) => node_id === id)?.resource_id
        const ofBridge = choices.find(({ resource_id }) => resource_id === preferred)
        const [first, second] = [ofBridge?.relay_node_id, ofBridge?.second_relay_node_id]
        if (first !== undefined && first !== id) return first
        if (first !== undefined && second) return second
        const ofDomain = relays?.relay_node_id ?? null
        return ofDomain === id ? (relays?.second_relay_node_id ?? null) : ofDomain
      }
      const ids = nodes.map(({ id }) => id)
      const parties = new Map(
        nodes.map(({ id, mesh_address, policy_groups }): [string, Party] => {
          const ofNode = rules.filter((each) => matches.some((row) => row.node_id === id && row.policy_id === each.id))
          const policies = ofNode.map((each) => ({
            policyId: each.id,
            entries: readEntries(JSON.parse(each.rules) as unknown[]).entries,
          }))
          return [id, { policies, groups: policy_groups, meshAddress: mesh_address }]
        }),
      )
      const seen = new Map(ids.map((id) => [id, new Set<string>()]))
      const see = (one: string, other: string): void => {
        if (one === other || !parties.has(one) || !parties.has(other)) return
        seen.get(one)?.add(other)
        seen.get(other)?.add(one)
      }
      for (const [one, party] of parties) {
        for (const [other, otherParty] of parties) {
          if (one === other) continue
          if (setting?.peer_visibility !== 'all' && !mayExchange(party, otherParty)) continue
          see(one, other)
          const relay = relayOf(other)
          if (relay === null || relay === one || !parties.has(relay)) continue
          see(one, relay)
          see(other, relay)
        }
      }
      return new Map(Array.from(seen, ([id, others]) => [id, [...others].toSorted()]))
    }

    /** Both replicas answer the expected peers, in the same bytes. Gives the answer. */
    async function agreed(member: Member, peers: readonly string[] | undefined): Promise<PulledText> {
      const [one, other] = await Promise.all([replicas.pull(0, member), replicas.pull(1, member)])
      expect(one.status, one.text).toBe(200)
      expect(other).toEqual(one)
      const { peers: shown } = JSON.parse(one.text) as { peers: readonly { node_id: string }[] }
      expect(shown.map(({ node_id }) => node_id)).toEqual(peers)
      for (const via of [0, 1]) expect((await replicas.pull(via, member, one.etag)).status).toBe(304)
      return one
    }

    async function revisionOf(nodeId: string): Promise<string> {
      const found = replicas.fleet.db
        .selectFrom('node_heartbeats')
        .select('node_revision')
        .where('node_id', '=', nodeId)
      return (await found.executeTakeFirstOrThrow()).node_revision
    }

    it(
      'is what the verdicts say, in the same bytes on both replicas, under a tag that changes only with them',
      async () => {
        const seen = { hidden: 0, tags: 0, kept: 0 }
        const property = fc.asyncProperty(turns, async (lived) => {
          const world = await begin()
          const tags = new Map<string, string>()
          for (const { steps, readers } of lived) {
            replicas.fleet.clock.nowMs += 1_000
            await Promise.all(world.members.flatMap((member) => readers.map((via) => replicas.pull(via, member))))
            await Promise.all(steps.map((each) => take(world, each)))
            const peers = await expected(world.domain)
            const isFiltered = [...peers.values()].some(({ length }) => length < peers.size - 1)
            for (const member of world.members) {
              const { etag, text } = await agreed(member, peers.get(member.node_id))
              if (isFiltered) seen.hidden += 1
              if (!isFiltered) continue
              // Equal states have one tag, and a tag has one state.
              const state = `${member.node_id} ${await revisionOf(member.node_id)} ${text}`
              if (tags.has(state)) seen.kept += 1
              else seen.tags += 1
              expect(tags.get(state) ?? etag).toBe(etag)
              expect(tags.get(etag) ?? state).toBe(state)
              tags.set(state, etag)
              tags.set(etag, state)
            }
          }
        })
        await fc.assert(property, { numRuns: depth({ ci: 12, deep: 300 }), ...depth({ ci: { seed: 7 }, deep: {} }) })
        expect(seen.hidden).toBeGreaterThan(50)
        expect(seen.tags).toBeGreaterThan(50)
        expect(seen.kept).toBeGreaterThan(10)
      },
      depth({ ci: 300_000, deep: 7_200_000 }),
    )
  })
})
