import fc from 'fast-check'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createReachabilitySweeper } from '../../src/server/slices/nodes/reachability-sweeper.ts'
import { createRecoveryAnnouncer, type RecoveryAnnouncer } from '../../src/server/slices/nodes/recovery-announcer.ts'
import { parseNsk } from '../../src/shared/credential-formats.ts'
import { depth } from '../support/run/depth.ts'
import type { Enrolled } from '../support/fleet/fleet.ts'
import { wordOf } from '../support/run/interleavings.ts'
import { unfenced } from '../support/datastores/leading.ts'
import { startMeshFleet, type MeshFleet } from '../support/fleet/mesh-fleet.ts'
import { STORES } from '../support/datastores/stores.ts'
import { newborn, outcomes, shown, type Deed, type Happening, type Reach } from './reachability-rules.ts'

const NODES = 3

interface Beats {
  readonly does: 'beat' | 'early beat'
  readonly nodes: readonly number[]
}

/** What is done at once with another step, or alone. */
type Step =
  | Beats
  | { readonly does: 'deregister' | 'revoke' | 're-enrol'; readonly node: number }
  | { readonly does: 'sweep' }
  | { readonly does: 'edge'; readonly node: number; readonly is: 'fresh' | 'stale' }

type Turn = { readonly clockMs: number } | { readonly steps: readonly Step[] }

const node = fc.nat(NODES - 1)
const batch = fc.uniqueArray(node, { minLength: 1, maxLength: NODES })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ does: fc.constant('beat' as const), nodes: batch }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('early beat' as const), nodes: batch }) },
  { weight: 5, arbitrary: fc.constant({ does: 'sweep' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('edge' as const), node, is: fc.constantFrom('fresh', 'stale') }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('deregister', 'revoke'), node }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('re-enrol' as const), node }) },
)
/** Around the bounds of silence; below 0 the clock of the server is set back. */
const clockMs = fc.constantFrom(1, 5_000, 89_999, 90_000, 90_001, 210_000, 299_999, 300_000, -1, -10_000, -210_000)
const isOfOne = ([one, other]: readonly Step[]): boolean => one?.does === 're-enrol' && other?.does === 're-enrol'
const turns: fc.Arbitrary<Turn[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ clockMs }) },
    { weight: 4, arbitrary: fc.record({ steps: fc.tuple(step) }) },
    { weight: 3, arbitrary: fc.record({ steps: fc.tuple(step, step).filter((both) => !isOfOne(both)) }) },
  ),
  { minLength: 6, maxLength: depth({ ci: 20, deep: 60 }) },
)

/** A node under test: what holds of it, and the keys that it was given. */
interface Subject {
  reach: Reach
  readonly nodeId: string
  readonly keys: string[]
}

describe.each(STORES)('The reachability of nodes on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let fleet: MeshFleet
    let announcer: RecoveryAnnouncer
    beforeAll(async () => {
      fleet = await startMeshFleet(store)
      const onFailure = (error: unknown): never => {
        throw new Error('not announced', { cause: error })
      }
      announcer = createRecoveryAnnouncer({ ...fleet, onFailure })
      fleet.back.hear = (nodeIds) => announcer.add(nodeIds)
    }, 120_000)
    afterAll(() => fleet?.stop())

    /** Readies a step, so that two can be let go at once. Resolves with the words of its answers, by node. */
    async function ready(one: Step, subjects: readonly Subject[], domain: string) {
      const { call, root } = fleet
      const of = (index: number): Subject => {
        const subject = subjects[index]
        if (subject === undefined) throw new Error(`there is no node ${index}`)
        return subject
      }
      const wordFor = (index: number, word: string) => new Map([[index, word]])
      if (one.does === 'sweep')
        return async () => (await createReachabilitySweeper(fleet).run(unfenced(fleet)), new Map())
      if (one.does === 'edge')
        return async () => {
          await fleet.endpoint(of(one.node).nodeId, one.is)
          await fleet.choose()
          return new Map<number, string>()
        }
      if ('nodes' in one) {
        const client_now = new Date(fleet.clock.nowMs + (one.does === 'beat' ? 60_000 : 60_001)).toISOString()
        return async () => {
          const answers = one.nodes.map(async (index) => {
            const { nodeId, keys } = of(index)
            return [
              index,
              wordOf(await fleet.beat({ node_id: nodeId, nsk: keys.at(-1) ?? '' }, { client_now })),
            ] as const
          })
          return new Map(await Promise.all(answers))
        }
      }
      const { nodeId, keys, reach } = of(one.node)
      if (one.does === 'deregister')
        return async () => wordFor(one.node, wordOf(await call(root, `DELETE /v1/nodes/${nodeId}`)))
      if (one.does === 'revoke')
        return async () => wordFor(one.node, wordOf(await call(root, `POST /v1/nodes/${nodeId}/nsk/revoke`)))
      if (reach.isGone) return async () => wordFor(one.node, 'gone')
      const { token } = await fleet.token(domain, { node_id: nodeId })
      return async () => {
        const answer = await fleet.register(token)
        if (answer.status === 201) keys.push(String(answer.body['nsk']))
        const word = wordOf(answer)
        return wordFor(one.node, word === 'invalid_join_token' ? 'gone' : word)
      }
    }

    /** What is there of a node for everybody to see, what was announced of it, and whether a key of it is good. */
    async function looks({ nodeId }: Subject): Promise<unknown> {
      const answer = await fleet.call(fleet.root, `GET /v1/nodes/${nodeId}/reachability`)
      const rows = await fleet.db
        .selectFrom('outbox')
        .selectAll()
        .where('event', '=', 'NodeReachabilityChanged')
        .where('aggregate', '=', `node:${nodeId}`)
        .orderBy('id')
        .execute()
      const news = rows.map(({ payload }) => {
        const { from, to, changed_at } = payload as { from: string; to: string; changed_at: string }
        return `${from} ${to} ${changed_at}`
      })
      const mark = await fleet.db
        .selectFrom('node_heartbeats')
        .select('announced_state')
        .where('node_id', '=', nodeId)
        .executeTakeFirst()
      const isCutOff = mark === undefined ? undefined : (await liveKeys(nodeId)).length === 0
      return { shown: answer.status === 200 ? answer.body : 'gone', told: mark?.announced_state, isCutOff, news }
    }

    async function liveKeys(nodeId: string): Promise<string[]> {
      const live = await fleet.db
        .selectFrom('node_secret_keys')
        .select('kid')
        .where('node_id', '=', nodeId)
        .where('revoked_at', 'is', null)
        .execute()
      return live.map(({ kid }) => kid)
    }

    async function takeTurn(steps: readonly Step[], subjects: readonly Subject[], domain: string): Promise<string[]> {
      const readied = []
      for (const one of steps) readied.push(await ready(one, subjects, domain))
      const came = await Promise.all(readied.map((go) => go()))
      await announcer.settled()
      for (const [index, subject] of subjects.entries()) {
        const lists = steps.map((one, answer) =>
          happenings(one, { index, answer, isAlone: steps.length === 1 }, subject),
        )
        const answers = new Map(came.flatMap((words, at) => (words.has(index) ? [[at, words.get(index)]] : [])))
        const seen = { answers, ...Object(await looks(subject)) }
        const possible = outcomes(subject.reach, lists, fleet.clock.nowMs).map((end) => ({
          end: end.reach,
          looks: {
            answers: end.answers,
            shown: shown(end.reach, fleet.clock.nowMs),
            told: end.reach.isGone ? undefined : end.reach.told,
            isCutOff: end.reach.isGone ? undefined : end.reach.isCutOff,
            news: end.reach.news,
          },
        }))
        const fitting = possible.find((each) => isDeepStrictEqual(each.looks, seen))
        if (fitting === undefined) expect(seen, `node ${index} in no order`).toEqual(possible[0]?.looks)
        subject.reach = fitting?.end ?? subject.reach
        await sortKeys(subject)
      }
      return came.flatMap((words) => [...words.values()])
    }

    /** The key that works is the last one. */
    async function sortKeys({ nodeId, keys }: Subject): Promise<void> {
      const live = await liveKeys(nodeId)
      expect(live.length).toBeLessThanOrEqual(1)
      if (live[0] !== undefined) expect(parseNsk(keys.at(-1) ?? '')?.kid).toBe(live[0])
    }

    async function expectLists(domain: string, subjects: readonly Subject[]): Promise<void> {
      for (const state of ['never_reported', 'healthy', 'stale', 'unreachable']) {
        const { body } = await fleet.call(fleet.root, `GET /v1/nodes?domain_id=${domain}&reachability=${state}`)
        const listed = (body['items'] as readonly { readonly id: string }[]).map(({ id }) => id)
        const expected = subjects.filter(({ reach }) => Object(shown(reach, fleet.clock.nowMs))['state'] === state)
        expect(listed).toEqual(expected.map(({ nodeId }) => nodeId).toSorted())
      }
    }

    /**
     * Who carries the edges of nodes without an endpoint: the lowest one that is announced as in reach. All but the first one
     * host a bridge that nodes may prefer.
     */
    async function expectRelay(domain: string, subjects: readonly Subject[], bridge: string): Promise<void> {
      await fleet.choose()
      const { relay_node_id } = await fleet.db
        .selectFrom('domain_peers')
        .select('relay_node_id')
        .where('domain_id', '=', domain)
        .executeTakeFirstOrThrow()
      const inReach = subjects.filter(({ reach }) => !reach.isGone && ['healthy', 'stale'].includes(reach.told))
      const lowest = (among: readonly Subject[]) => among.map(({ nodeId }) => nodeId).toSorted()[0]
      expect(relay_node_id).toBe(lowest(inReach) ?? null)
      const ofBridge = await fleet.db
        .selectFrom('relay_choices')
        .select('relay_node_id')
        .where('resource_id', '=', bridge)
        .executeTakeFirst()
      expect(ofBridge?.relay_node_id).toBe(lowest(inReach.filter((each) => each !== subjects[0])))
    }

    it(
      'is what heartbeats and the time make of it, in some order of what is done at once, and each change is told once',
      async () => {
        const seen = new Set<string>()
        const walk = fc.asyncProperty(turns, async (taken) => {
          await fleet.db.deleteFrom('nodes').execute()
          await fleet.db.deleteFrom('outbox').execute()
          const domain = await fleet.domain()
          const nodes: Enrolled[] = []
          for (let count = 0; count < NODES; count++) nodes.push(await fleet.enrol(domain))
          await fleet.relay(
            domain,
            nodes.map(({ node_id }) => node_id),
          )
          const others = nodes.slice(1).map(({ node_id }) => node_id)
          const bridge = await fleet.relay(domain, others)
          const subjects = nodes.map(({ node_id, nsk }): Subject => {
            return { reach: newborn(fleet.clock.nowMs), nodeId: node_id, keys: [nsk] }
          })
          fleet.audited.splice(0)
          for (const turn of taken) {
            if ('clockMs' in turn) fleet.clock.nowMs += turn.clockMs
            else for (const word of await takeTurn(turn.steps, subjects, domain)) seen.add(word)
          }
          // Whatever was left for later is told by the next sweep.
          await takeTurn([{ does: 'sweep' }], subjects, domain)
          await expectLists(domain, subjects)
          await expectRelay(domain, subjects, bridge)
          for (const { reach } of subjects) for (const line of reach.news) seen.add(line.split(' ', 2).join(' '))
          const inChanges = await fleet.db.selectFrom('audit').select(['relation', 'outcome']).execute()
          const granted = [...fleet.audited, ...inChanges].filter(
            ({ relation, outcome }) => /heartbeat|reachability/.test(relation) && outcome === 'granted',
          )
          expect(granted).toEqual([])
        })
        await fc.assert(walk, { numRuns: depth({ ci: 25, deep: 500 }), ...depth({ ci: { seed: 7 }, deep: {} }) })
        const usual = [...seen].filter((word) => !AT_TIMES.has(word))
        expect(usual.toSorted()).toEqual(EVERYTHING)
      },
      depth({ ci: 300_000, deep: 3_600_000 }),
    )
  })
})

/** Which of two steps at once comes first decides whether a walk comes to them: a heartbeat is announced late, or the clock is set back. */
const AT_TIMES: ReadonlySet<string> = new Set(['never_reported stale', 'unreachable stale'])

/** Answers and changes that every set of walks comes to. */
const EVERYTHING = [
  '200',
  '201',
  '204',
  'clock_skew',
  'gone',
  'healthy stale',
  'healthy unreachable',
  'never_reported healthy',
  'nsk_revoked',
  'stale healthy',
  'stale unreachable',
  'unreachable healthy',
]

/** What a step is for one node. An announcement may be left for later where something else is done to the node at once. */
function happenings(
  one: Step,
  { index, answer, isAlone }: { readonly index: number; readonly answer: number; readonly isAlone: boolean },
  { reach: { key } }: Subject,
): readonly Happening[] {
  const told = (deed: Deed): Happening => ({ deed, answer: undefined, mayWait: !isAlone })
  if (one.does === 'sweep') return [told({ does: 'announce' })]
  if (one.does === 'edge') return []
  if ('nodes' in one)
    return one.nodes.includes(index)
      ? [{ deed: { does: one.does, key }, answer, mayWait: false }, told({ does: 'recover' })]
      : []
  return one.node === index ? [{ deed: { does: one.does }, answer, mayWait: false }] : []
}
