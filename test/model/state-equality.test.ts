import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createExecutionTimeouts } from '../../src/server/slices/executions/execution-sweeper.ts'
import { createMediatedSessionEnds } from '../../src/server/slices/mediated-sessions/session-sweeper.ts'
import { createRelayChoice } from '../../src/server/slices/mesh/relay-choice.ts'
import { createEndpointSweeper } from '../../src/server/slices/node-observations/endpoint-sweeper.ts'
import { createReachabilitySweeper } from '../../src/server/slices/nodes/reachability-sweeper.ts'
import { canonicalize } from '../../src/shared/canonical-json.ts'
import { startActingReplicas, type ActingReplicas } from '../support/server/acting-replicas.ts'
import { depth } from '../support/run/depth.ts'
import { freshPublicKey } from '../support/fleet/fleet.ts'
import { unfenced } from '../support/datastores/leading.ts'
import { stateRows } from '../support/fleet/node-states.ts'
import { STORES } from '../support/datastores/stores.ts'
import { DEEDS, type Member } from './state-deeds.ts'
import { relayLabels } from '../support/fleet/relay-labels.ts'

/** What is done to which node, through which replica; `variant` is one of a few of whatever varies. */
interface Step {
  readonly does: (typeof ALL)[number]
  readonly of: number
  readonly via: number
  readonly variant: number
}

/** What happens to the fleet as a whole. */
const OTHERS = ['join', 're-enrol', 'policy', 'bridge', 'sweep', 'sweep', 'prefer', 'prefer', 'relay'] as const
const ALL = [...OTHERS, ...namesOf(DEEDS)] as const

function namesOf<T extends object>(table: T): readonly (keyof T)[] {
  // The keys of a literal are all that it has.
  return Object.keys(table) as (keyof T)[]
}

const FLEET_MAX = 6
const step: fc.Arbitrary<Step> = fc.record({
  does: fc.constantFrom(...ALL),
  of: fc.nat(FLEET_MAX - 1),
  via: fc.nat(1),
  variant: fc.nat(3),
})
/** Up to three things at once, then some time. */
const turn: fc.Arbitrary<Turn> = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 3 }),
  waitMs: fc.constantFrom(0, 1, 1_000, 31_000, 91_000, 301_000),
  readers: fc.constantFrom([0, 1], [0, 1], [0], [1], []),
})
/** A fleet, and what happens to it. */
interface Life {
  readonly nodes: number
  /** Which of the first nodes host a relay. */
  readonly relays: readonly number[]
  readonly turns: readonly Turn[]
}

/** What is done at once, and by which replicas states are pulled meanwhile. */
interface Turn {
  readonly steps: readonly Step[]
  readonly waitMs: number
  readonly readers: readonly number[]
}

/** In the end everything rests, and both are asked. */
const LAST: Turn = { steps: [], waitMs: 0, readers: [0, 1] }

const life: fc.Arbitrary<Life> = fc.record({
  nodes: fc.integer({ min: 1, max: 4 }),
  relays: fc.subarray([0, 1, 2]),
  turns: fc.array(turn, { minLength: 3, maxLength: depth({ ci: 12, deep: 40 }) }),
})

interface World {
  readonly domain: string
  readonly project: string
  readonly bridge: string
  /** Bridges with relays, of different hosts and ports. */
  readonly bridges: readonly string[]
  readonly policyId: string
  readonly members: Member[]
}

describe.each(STORES)('The states of random fleets on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let replicas: ActingReplicas
    let rows: ReturnType<typeof stateRows>
    let labels: ReturnType<typeof relayLabels>
    beforeAll(async () => {
      replicas = await startActingReplicas(store)
      rows = stateRows(replicas.fleet)
      labels = relayLabels(replicas.fleet)
    }, 120_000)
    afterAll(() => replicas?.stop())

    const root = () => replicas.fleet.root
    const idOf = ({ body }: { body: Readonly<Record<string, unknown>> }, name: string): string => String(body[name])

    async function join(world: World, via: number, nodeId?: string): Promise<void> {
      const { domain, members } = world
      const terms =
        nodeId === undefined ? { labels: { tier: members.length % 2 === 0 ? 'web' : 'db' } } : { node_id: nodeId }
      const token = await replicas.call(via, root(), `POST /v1/domains/${domain}/join-tokens`, terms)
      if (token.status !== 201) return
      const body = { name: `n-${replicas.fleet.ids.next()}`, kind: 'vm', public_key: freshPublicKey() }
      const answer = await replicas.call(1 - via, idOf(token, 'token'), 'POST /v1/nodes/register', body)
      if (answer.status !== 201) return
      const known = members.find(({ node_id }) => node_id === nodeId)
      if (known === undefined) members.push({ node_id: idOf(answer, 'node_id'), nsk: idOf(answer, 'nsk') })
      else known.nsk = idOf(answer, 'nsk')
    }

    async function sweep(): Promise<void> {
      const { fleet } = replicas
      const jobs = [
        createReachabilitySweeper(fleet),
        createEndpointSweeper(fleet),
        createRelayChoice(fleet),
        createExecutionTimeouts(fleet),
        createMediatedSessionEnds(fleet),
      ]
      await labels.follow()
      for (const job of jobs) await job.run(unfenced(fleet))
    }

    /** The Domain, or a node, prefers one of the bridges, or none. */
    async function prefer({ domain, bridges }: World, nodeId: string, { variant, via }: Step): Promise<void> {
      const object = variant === 2 ? ({ kind: 'domain', id: domain } as const) : ({ kind: 'node', id: nodeId } as const)
      await labels.prefer(object, variant === 3 ? null : (bridges[via] ?? null))
    }

    async function changePolicy({ domain, policyId }: World, variant: number): Promise<void> {
      if (variant === 0) await rows.withoutPolicy(policyId)
      else await rows.policy(domain, { id: policyId, selector: variant > 2 ? {} : { tier: 'web' }, rules: [variant] })
    }

    async function take(world: World, done: Step): Promise<unknown> {
      const { does, of, via, variant } = done
      const { members, domain, project, bridge, bridges } = world
      if (does === 'sweep') return sweep()
      if (does === 'policy') return changePolicy(world, variant)
      if (does === 'relay')
        return labels.relay(bridges[via] ?? '', { enabled: variant !== 0, listen_port: 51_000 + variant })
      if (does === 'bridge') return rows.bridgeConfig(domain, bridge, { variant })
      const member = members[of % Math.max(1, members.length)]
      if (does === 'join' || member === undefined) return members.length < FLEET_MAX ? join(world, via) : undefined
      if (does === 'prefer') return prefer(world, member.node_id, done)
      if (does === 're-enrol') return join(world, via, member.node_id)
      if (does === 'deregister') members.splice(members.indexOf(member), 1)
      return DEEDS[does]({ replicas, member, via, variant, projectId: project })
    }

    /** A Domain with nodes, some of which host a relay and are in reach. */
    async function begin({ nodes, relays }: Pick<Life, 'nodes' | 'relays'>): Promise<World> {
      const { fleet } = replicas
      const [domain, policyId] = [await fleet.domain(), fleet.ids.next()]
      const project = await fleet.project(domain)
      const world: World = { domain, project, bridge: fleet.ids.next(), bridges: [], policyId, members: [] }
      for (let count = 0; count < nodes; count++) await join(world, count % 2)
      const hosts = relays.flatMap((index) => world.members[index] ?? [])
      const hostIds = hosts.map((host) => host.node_id)
      const bridge = await labels.bridge(project, hostIds)
      const bridges = [bridge, await labels.bridge(project, hostIds.slice(-1), 51_900)]
      for (const [via, member] of hosts.entries()) {
        const occasion = { replicas, member, via: via % 2, variant: via, projectId: project }
        for (const does of ['beat', 'endpoint'] as const) await DEEDS[does](occasion)
      }
      await sweep()
      return { ...world, bridge, bridges }
    }

    async function tombstones(): Promise<number> {
      const stale = replicas.fleet.db.selectFrom('node_endpoints').select('node_id')
      return (await stale.where('last_endpoint_stale_at', 'is not', null).execute()).length
    }

    it(
      'are the same bytes under the same tag on both replicas, at any time and in the end',
      async () => {
        const tags = new Set<string>()
        const seen = { relayed: 0, tombstones: 0 }
        const property = fc.asyncProperty(life, async (lived) => {
          const world = await begin(lived)
          const texts = new Map<string, string>()
          const pull = async (via: number, member: Member) => {
            const pulled = await replicas.pull(via, member)
            // It may be gone, or have another key, since it was chosen.
            if (pulled.status !== 200) return expect([401, 403, 404]).toContain(pulled.status)
            expect(texts.get(pulled.etag) ?? pulled.text).toBe(pulled.text)
            texts.set(pulled.etag, pulled.text)
            expect(canonicalize(JSON.parse(pulled.text))).toBe(pulled.text)
          }
          for (const { steps, waitMs, readers } of [...lived.turns, LAST]) {
            replicas.fleet.clock.nowMs += waitMs
            const pulls = world.members.slice(0, 3).flatMap((member) => readers.map((via) => pull(via, member)))
            await Promise.all([...steps.map((each) => take(world, each)), ...pulls])
            // What one of them has not followed it has to read whole, and the other one in parts.
            for (const member of readers.length === 2 ? world.members : []) {
              const [one, other] = await Promise.all([replicas.pull(0, member), replicas.pull(1, member)])
              expect(one.status, one.text).toBe(200)
              expect(other).toEqual(one)
              expect(texts.get(one.etag) ?? one.text).toBe(one.text)
              texts.set(one.etag, one.text)
              for (const via of [0, 1]) expect((await replicas.pull(via, member, one.etag)).status).toBe(304)
              if (one.text.includes('"fallback_endpoint"')) seen.relayed += 1
            }
          }
          for (const tag of texts.keys()) tags.add(tag)
          seen.tombstones += await tombstones()
        })
        await fc.assert(property, { numRuns: depth({ ci: 12, deep: 400 }), ...depth({ ci: { seed: 11 }, deep: {} }) })
        expect(tags.size).toBeGreaterThan(100)
        expect(seen.relayed).toBeGreaterThan(0)
        expect(seen.tombstones).toBeGreaterThan(0)
      },
      depth({ ci: 300_000, deep: 7_200_000 }),
    )
  })
})
