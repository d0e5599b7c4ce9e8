import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createConsumption } from '../../../src/server/outbox/consumption.ts'
import { createNumbering } from '../../../src/server/outbox/numbering.ts'
import { createLabelConsumer } from '../../../src/server/slices/policies/label-consumer.ts'
import { REMATCHING } from '../../../src/server/slices/policies/rematching.ts'
import { unfenced } from '../../support/datastores/leading.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startPolicedFleet, type Labelled, type PolicedFleet } from '../../support/fleet/policed-fleet.ts'

const KEYS = ['role', 'env'] as const
const VALUES = ['a', 'b', undefined] as const
/** Selectors with what they mean, written once more. */
const SELECTORS = {
  '*': () => true,
  'role=a': ({ role }: Effective) => role === 'a',
  'role!=a': ({ role }: Effective) => role !== 'a',
  'env in (a,b)': ({ env }: Effective) => env !== undefined,
  '!env,role': ({ env, role }: Effective) => env === undefined && role !== undefined,
} as const
type SelectorText = keyof typeof SELECTORS
const TEXTS = Object.keys(SELECTORS) as SelectorText[]
type Effective = Readonly<Record<(typeof KEYS)[number], string | undefined>>

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('label' as const),
      on: fc.constantFrom('node', 'node', 'project', 'domain'),
      of: fc.nat(2),
      key: fc.constantFrom(...KEYS),
      value: fc.constantFrom(...VALUES),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('put' as const),
      of: fc.nat(2),
      selector: fc.constantFrom(...TEXTS),
      peers: fc.constantFrom(...TEXTS),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('delete' as const), of: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('join' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('move' as const), of: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('consume' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

describe.each(STORES)('Policies and labels that change at once on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let fleet: PolicedFleet
    beforeAll(async () => {
      fleet = await startPolicedFleet(store)
    })
    afterAll(() => fleet.stop())

    let consumed: Promise<unknown> = Promise.resolve()
    /** One after the other: there is one leader. */
    function consume(): Promise<void> {
      const next = consumed.then(consumeAll)
      consumed = next
      return next
    }

    async function consumeAll(): Promise<void> {
      const { datastore, ids } = fleet
      const leading = unfenced(fleet)
      const fail = (_: string, __: unknown, error: unknown): never => {
        throw error
      }
      const consumption = createConsumption({ datastore, ids, consumer: createLabelConsumer(fleet), onPoison: fail })
      while (await createNumbering({ datastore, onNumbered: () => undefined }).run(leading));
      while (await consumption.run(leading));
      while (await fleet.runJob(REMATCHING));
    }

    interface World {
      readonly domainId: string
      readonly project: string
      readonly nodes: string[]
    }

    async function startWorld(): Promise<World> {
      const domainId = await fleet.domain()
      await fleet.define(domainId, 'role', { inherit: true })
      await fleet.define(domainId, 'env')
      const project = await fleet.project(domainId)
      const nodes = [
        await fleet.labelledNode({ domainId, projectId: project }, { role: 'a' }),
        await fleet.labelledNode({ domainId }),
      ]
      return { domainId, project, nodes }
    }

    async function put({ domainId }: World, { of, selector, peers }: Extract<Step, { does: 'put' }>): Promise<void> {
      const rule = { direction: 'ingress', protocol: 'any' }
      const rules =
        peers === '*'
          ? []
          : [
              { ...rule, peers },
              { ...rule, direction: 'egress', peers, except_peers: 'env' },
            ]
      const body = { selector, rules }
      const created = await fleet.call(fleet.root, `POST /v1/domains/${domainId}/policies`, { slug: `p${of}`, ...body })
      if (created.status === 201) return
      const id = await policyAt(domainId, of)
      if (id === undefined) return
      const patched = await fleet.call(fleet.root, `PATCH /v1/policies/${id}`, body)
      expect([200, 404]).toContain(patched.status)
    }

    async function policyAt(domainId: string, of: number): Promise<string | undefined> {
      const row = await fleet.db
        .selectFrom('policies')
        .select('id')
        .where('domain_id', '=', domainId)
        .where('slug', '=', `p${of}`)
        .executeTakeFirst()
      return row?.id
    }

    async function take(world: World, what: Step): Promise<void> {
      const { domainId, project, nodes } = world
      const node = nodes['of' in what ? what.of % nodes.length : 0] ?? ''
      if (what.does === 'consume') return consume()
      if (what.does === 'put') return put(world, what)
      if (what.does === 'join') {
        nodes.push(await fleet.labelledNode({ domainId, projectId: project }, { env: 'b' }))
        return
      }
      if (what.does === 'move') return move(node, domainId, what.of === 0 ? null : project)
      if (what.does === 'delete') {
        const id = await policyAt(domainId, what.of)
        if (id !== undefined) await fleet.call(fleet.root, `DELETE /v1/policies/${id}`)
        return
      }
      const objects = { node: `node:${node}`, project: `project:${project}`, domain: `domain:${domainId}` } as const
      const object: Labelled = objects[what.on]
      await fleet.label(domainId, object, { [what.key]: what.value })
    }

    async function move(nodeId: string, domainId: string, projectId: string | null): Promise<void> {
      await fleet.change(async ({ db, emit }) => {
        await db.updateTable('nodes').set({ project_id: projectId }).where('id', '=', nodeId).execute()
        const payload = { definition_id: null, scope: `node:${nodeId}` }
        emit({ event: 'node_labels_changed', domainId, aggregate: `node:${nodeId}`, payload })
      })
    }

    /** The labels of a node, read one by one. `role` is inherited. */
    async function effective({ domainId }: World, nodeId: string): Promise<Effective> {
      const node = await fleet.db
        .selectFrom('nodes')
        .select('project_id')
        .where('id', '=', nodeId)
        .executeTakeFirstOrThrow()
      const of = async (kind: string, id: string | null, key: string) => {
        if (id === null) return undefined
        const row = await fleet.db
          .selectFrom('label_assignments')
          .select('value')
          .where('kind', '=', kind)
          .where('object_id', '=', id)
          .where('qualified_key', '=', `domain:${domainId}/${key}`)
          .executeTakeFirst()
        return row?.value
      }
      return {
        role:
          (await of('node', nodeId, 'role')) ??
          (await of('project', node.project_id, 'role')) ??
          (await of('domain', domainId, 'role')),
        env: await of('node', nodeId, 'env'),
      }
    }

    it('leave what a computation of everything from the beginning would leave', { timeout: 240_000 }, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 6 }), async (rounds) => {
          const world = await startWorld()
          // The steps of a round run at once.
          for (const steps of rounds) await Promise.all(steps.map((what) => take(world, what)))
          await consume()
          const canonical = new Map(
            TEXTS.map((text) => [text.replaceAll(/role|env/g, (key) => `domain:${world.domainId}/${key}`), text]),
          )
          const meaning = (text: string) => {
            const found = [...canonical].find(
              ([stored]) => stored.split(',').toSorted().join() === text.split(',').toSorted().join(),
            )
            return SELECTORS[found?.[1] ?? '*']
          }
          const policies = await fleet.db
            .selectFrom('policies')
            .innerJoin('policy_revisions as revision', 'revision.id', 'policies.revision_id')
            .select(['slug', 'selector'])
            .where('policies.domain_id', '=', world.domainId)
            .orderBy('slug')
            .execute()
          const groups = await fleet.db
            .selectFrom('policy_groups')
            .select('selector')
            .where('domain_id', '=', world.domainId)
            .execute()
          for (const node of world.nodes) {
            const labels = await effective(world, node)
            const holds = ({ selector }: { readonly selector: string }) =>
              selector.endsWith('/env') && !selector.includes('!')
                ? labels.env !== undefined
                : meaning(selector)(labels)
            expect(await fleet.stateOf(node)).toEqual({
              policies: policies.filter(holds).map(({ slug }) => slug),
              groups: groups
                .filter(holds)
                .map(({ selector }) => selector)
                .toSorted(),
            })
          }
        }),
        { numRuns: 12 },
      )
    })
  })
})
