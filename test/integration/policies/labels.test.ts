import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createConsumption } from '../../../src/server/outbox/consumption.ts'
import { createNumbering } from '../../../src/server/outbox/numbering.ts'
import { createLabelConsumer } from '../../../src/server/slices/policies/label-consumer.ts'
import { REMATCHING } from '../../../src/server/slices/policies/rematching.ts'
import { unfenced } from '../../support/datastores/leading.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startPolicedFleet, type PolicedFleet } from '../../support/fleet/policed-fleet.ts'

describe.each(STORES)('Policies and labels on the $name store', (store) => {
  describe.skipIf(store.missing)('after the labels of nodes changed', () => {
    let fleet: PolicedFleet
    let domainId: string
    let emitted = ''
    beforeAll(async () => {
      fleet = await startPolicedFleet(store)
      domainId = await fleet.domain()
      for (const key of ['role', 'unused']) await fleet.define(domainId, key)
      await fleet.define(domainId, 'env', { inherit: true })
      await fleet.policy(domainId, { slug: 'all' })
      const rule = { direction: 'ingress', peers: 'role=web', except_peers: 'env=dev', protocol: 'any' }
      await fleet.policy(domainId, { slug: 'prod', selector: 'env=prod', rules: [rule] })
      await fleet.policy(domainId, { slug: 'not-prod', selector: 'env!=prod' })
    })
    afterAll(() => fleet.stop())

    /** Runs the consumer and the job until neither has anything to do. */
    async function settle(): Promise<void> {
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

    /** Outbox rows since the last call, without those of the labels themselves. */
    async function announced(): Promise<[string, unknown][]> {
      const rows = await fleet.db
        .selectFrom('outbox')
        .select(['id', 'event', 'payload'])
        .where('id', '>', emitted === '' ? '0' : emitted)
        .where('event', 'in', ['node_policies_changed', 'peer_groups_changed', 'policy_group_changed'])
        .orderBy('id')
        .execute()
      emitted = rows.at(-1)?.id ?? emitted
      return rows.map(({ event, payload }) => [event, payload])
    }

    const stateOf = async (nodeId: string) => {
      const { policies, groups } = await fleet.stateOf(nodeId)
      return [policies, groups.map((selector) => selector.replaceAll(`domain:${domainId}/`, ''))]
    }

    const revisions = async (nodeId: string) => {
      const row = await fleet.db
        .selectFrom('nodes')
        .innerJoin('node_heartbeats', 'node_heartbeats.node_id', 'nodes.id')
        .select(['peer_revision', 'node_revision'])
        .where('nodes.id', '=', nodeId)
        .executeTakeFirstOrThrow()
      return [Number(row.peer_revision), Number(row.node_revision)]
    }

    it('matches the node again, and tells itself and its peers what changed for them', async () => {
      const node = await fleet.labelledNode({ domainId }, { role: 'web' })
      await settle()
      expect(await stateOf(node)).toEqual([['all', 'not-prod'], ['role=web']])
      await announced()
      const [peers, own] = await revisions(node)
      await fleet.label(domainId, `node:${node}`, { env: 'prod' })
      await settle()
      expect(await stateOf(node)).toEqual([['all', 'prod'], ['role=web']])
      expect(await announced()).toEqual([['node_policies_changed', { node_id: node }]])
      expect(await revisions(node)).toEqual([peers, Number(own) + 1])
      await fleet.label(domainId, `node:${node}`, { role: undefined })
      await settle()
      expect(await stateOf(node)).toEqual([['all', 'prod'], []])
      expect(await announced()).toEqual([['peer_groups_changed', { node_id: node, groups: [] }]])
      expect((await revisions(node))[1]).toBe(Number(own) + 1)
      expect((await revisions(node))[0]).toBeGreaterThan(Number(peers))
    })

    it('tells nobody of a label that no policy names', async () => {
      const node = await fleet.labelledNode({ domainId }, { role: 'web' })
      await settle()
      await announced()
      const before = await revisions(node)
      await fleet.label(domainId, `node:${node}`, { unused: 'x' })
      await settle()
      expect([await announced(), await revisions(node)]).toEqual([[], before])
    })

    it('gives a node that is registered without labels the policies for everybody', async () => {
      const node = await fleet.labelledNode({ domainId })
      await settle()
      expect(await stateOf(node)).toEqual([['all', 'not-prod'], []])
    })

    it('follows labels of the Project and the Domain, where they are inherited, and the move to another Project', async () => {
      const project = await fleet.project(domainId)
      const [inside, own, outside] = [
        await fleet.labelledNode({ domainId, projectId: project }),
        await fleet.labelledNode({ domainId, projectId: project }, { env: 'test' }),
        await fleet.labelledNode({ domainId }),
      ]
      await fleet.label(domainId, `project:${project}`, { env: 'prod', role: 'web' })
      await settle()
      expect(await Promise.all([inside, own, outside].map(stateOf))).toEqual([
        [['all', 'prod'], []],
        [['all', 'not-prod'], []],
        [['all', 'not-prod'], []],
      ])
      await fleet.label(domainId, `domain:${domainId}`, { env: 'dev' })
      await settle()
      expect(await Promise.all([inside, own, outside].map(stateOf))).toEqual([
        [['all', 'prod'], []],
        [['all', 'not-prod'], []],
        [['all', 'not-prod'], ['env=dev']],
      ])
      await fleet.change(async ({ db, emit }) => {
        await db.updateTable('nodes').set({ project_id: null }).where('id', '=', inside).execute()
        const payload = { definition_id: null, scope: `node:${inside}` }
        emit({ event: 'node_labels_changed', domainId, aggregate: `node:${inside}`, payload })
      })
      await settle()
      expect(await stateOf(inside)).toEqual([['all', 'not-prod'], ['env=dev']])
      await fleet.label(domainId, `domain:${domainId}`, { env: undefined })
      await settle()
      expect(await stateOf(inside)).toEqual([['all', 'not-prod'], []])
    })

    it(
      'matches many nodes over several transactions, and tells their peers by group',
      { timeout: 60_000 },
      async () => {
        const wide = await fleet.domain()
        const env = await fleet.define(wide, 'env', { inherit: true })
        const rule = { direction: 'ingress', peers: 'env=prod', protocol: 'any' }
        await fleet.policy(wide, { slug: 'wide', selector: 'env', rules: [rule] })
        const nodes: string[] = []
        for (let count = 0; count < 80; count++) nodes.push(await fleet.labelledNode({ domainId: wide }))
        await fleet.label(wide, `domain:${wide}`, { env: 'prod' })
        await announced()
        await settle()
        const states = await Promise.all(nodes.map((node) => fleet.stateOf(node)))
        expect(new Set(states.map((state) => JSON.stringify(state)))).toEqual(
          new Set([JSON.stringify({ policies: ['wide'], groups: [`domain:${wide}/env=prod`] })]),
        )
        const rows = await announced()
        expect(rows.filter(([event]) => event === 'policy_group_changed')).toEqual([
          ['policy_group_changed', { group: 1, added: nodes.toSorted(), removed: [] }],
        ])
        expect(rows.filter(([event]) => event === 'node_policies_changed')).toHaveLength(80)
        expect(await fleet.db.selectFrom('policy_rematches').select('id').execute()).toEqual([])
        await fleet.change(async ({ db, emit }) => {
          await db.updateTable('label_definitions').set({ inherit: false }).where('id', '=', env).execute()
          const payload = { definition_id: env, scope: 'platform:main' }
          emit({ event: 'node_labels_changed', domainId: null, aggregate: 'platform:main', payload })
        })
        await settle()
        expect(await fleet.stateOf(nodes[7] ?? '')).toEqual({ policies: [], groups: [] })
      },
    )
  })
})
