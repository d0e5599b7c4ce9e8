import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import { startFleet, type Fleet } from '../../support/fleet/fleet.ts'
import { refusalOf } from '../../support/labels/labelled.ts'
import type { Answer } from '../../support/server/control-plane.ts'

const ENV = '01900000-0000-7000-8000-000000000001'

describe.each(STORES)('Labels of nodes and join tokens on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: Fleet
    let domainId: string
    const root = (operation: string, body?: unknown) => fleet.call(fleet.root, operation, body)
    const patch = (node: string, labels: object, as = fleet.root) =>
      fleet.call(as, `PATCH /v1/nodes/${node}`, { labels })
    const enrol = async (labels: object, terms: object = {}) =>
      (await fleet.enrol(domainId, {}, { ...terms, labels })).node_id
    const mint = (labels: object, as = fleet.root) =>
      fleet.call(as, `POST /v1/domains/${domainId}/join-tokens`, { labels })
    const define = async (localKey: string, members: object = {}, scope = `domain:${domainId}`) => {
      const body = { scope, local_key: localKey, value_schema: { type: 'string' }, ...members }
      const { status, body: answer } = await root('POST /v1/label-definitions', body)
      if (status !== 201) throw new Error(JSON.stringify(answer))
      return String(answer['id'])
    }
    const put = (node: string, key: string, value: unknown) =>
      root(`PUT /v1/objects/node/${node}/labels`, { qualified_key: key, value })
    const labelsOf = async (node: string) => {
      const { body } = await root(`GET /v1/objects/node/${node}/labels`)
      return (body['items'] as readonly Readonly<Record<string, unknown>>[]).map(
        ({ qualified_key: key, value, assigned_by: by }) => [String(key).replace(`domain:${domainId}/`, ''), value, by],
      )
    }
    const shown = async (node: string) => (await root(`GET /v1/nodes/${node}`)).body['labels']
    const eventsOf = async (of: Answer) => (await fleet.outbox(of)).map(({ event, payload }) => [event, payload])
    const definitionsOf = () =>
      fleet.db.selectFrom('label_definitions').select('local_key').where('domain_id', '=', domainId).execute()

    beforeAll(async () => {
      fleet = await startFleet(store, { surfaces: ['labels'] })
      await fleet.runJob('label-definition-tuples')
      domainId = await fleet.domain()
    })
    afterAll(() => fleet.stop())

    test('of a token are defined when it is created, and assigned when a node joins', async () => {
      const { token } = await fleet.token(domainId, { labels: { 'team/role': 'edge', note: '' }, max_uses: 2 })
      expect((await definitionsOf()).map(({ local_key }) => local_key).toSorted()).toEqual(['note', 'team/role'])
      const [definition] = await fleet.db
        .selectFrom('label_definitions')
        .selectAll()
        .where('qualified_key', '=', `domain:${domainId}/note`)
        .execute()
      expect(definition).toMatchObject({
        description: '',
        value_schema: { type: 'string' },
        on_delete: 'block',
        system: false,
      })
      expect(await fleet.tuplesOf(`labeldefinition:${definition?.id}`)).toEqual([
        `domain:${domainId} domain labeldefinition:${definition?.id}`,
      ])
      const joined = await fleet.register(token)
      expect(joined.status).toBe(201)
      const node = String(joined.body['node_id'])
      expect(await labelsOf(node)).toEqual([
        ['note', '', fleet.root],
        ['team/role', 'edge', fleet.root],
      ])
      expect(await shown(node)).toEqual({ note: '', 'team/role': 'edge' })
      // The registration matches the node to policies itself.
      expect((await eventsOf(joined)).map(([event]) => event)).not.toContain('node_labels_changed')
    })

    test('that were deleted since the token was created are defined again', async () => {
      const { token } = await fleet.token(domainId, { labels: { short: 'x' } })
      const { id } = await fleet.db
        .selectFrom('label_definitions')
        .select('id')
        .where('local_key', '=', 'short')
        .executeTakeFirstOrThrow()
      expect((await root(`DELETE /v1/label-definitions/${id}`)).status).toBe(204)
      const joined = await fleet.register(token)
      expect([joined.status, await labelsOf(String(joined.body['node_id']))]).toEqual([
        201,
        [['short', 'x', fleet.root]],
      ])
    })

    test('are replaced by a patch as a whole, but for those of a Project', async () => {
      const project = await fleet.project(domainId)
      const node = await enrol({ zone: 'a', tier: 'edge' }, { project_id: project })
      await define('own', {}, `project:${project}`)
      expect((await put(node, `project:${project}/own`, 'x')).status).toBe(200)
      const patched = await patch(node, { zone: 'b', fresh: 'y' })
      expect(patched.body['labels']).toEqual({ zone: 'b', fresh: 'y', [`project:${project}/own`]: 'x' })
      const about = { kind: 'node', object_id: node, definition_id: expect.any(String) }
      const events = await eventsOf(patched)
      expect(events).toContainEqual(['LabelRemoved', { ...about, qualified_key: `domain:${domainId}/tier` }])
      expect(events).toContainEqual(['LabelAssigned', { ...about, qualified_key: `domain:${domainId}/zone` }])
      expect(events.filter(([event]) => event === 'node_labels_changed')).toEqual([
        ['node_labels_changed', { definition_id: null, scope: `node:${node}` }],
      ])
      expect(await eventsOf(await patch(node, { zone: 'b', fresh: 'y' }))).toEqual([])
    })

    test('are left behind in a Project that the node leaves, where that defines them', async () => {
      const [former, next] = [await fleet.project(domainId), await fleet.project(domainId)]
      const node = await enrol({ zone: 'a' }, { project_id: former })
      await define('own', {}, `project:${former}`)
      await put(node, `project:${former}/own`, 'x')
      const moved = await root(`PATCH /v1/nodes/${node}`, { project_id: next })
      expect(moved.body['labels']).toEqual({ zone: 'a' })
      expect((await eventsOf(moved)).map(([event]) => event)).toEqual(['LabelRemoved', 'node_labels_changed'])
      expect((await eventsOf(moved)).at(-1)?.[1]).toEqual({ definition_id: null, scope: `node:${node}` })
      const again = await root(`PATCH /v1/nodes/${node}`, { project_id: next })
      expect(await eventsOf(again)).toEqual([])
    })

    test('keep to the schema and kinds of their Definitions', async () => {
      await define('weight', { value_schema: { type: 'integer', maximum: 9 } })
      await define('not-of-nodes', { kinds: ['project'] })
      const node = await enrol({ weight: '7' })
      expect(await labelsOf(node)).toEqual([['weight', 7, fleet.root]])
      expect(await shown(node)).toEqual({ weight: '7' })
      for (const labels of [{ weight: '10' }, { weight: 'many' }, { weight: '07' }, { 'not-of-nodes': 'x' }]) {
        expect(refusalOf(await patch(node, labels)).slice(0, 2)).toEqual([422, 'aggregate_invariant'])
        expect(refusalOf(await mint(labels)).slice(0, 2)).toEqual([422, 'aggregate_invariant'])
      }
      expect(await shown(node)).toEqual({ weight: '7' })
    })

    test('that a later schema refuses keep a node from joining', async () => {
      const id = await define('later')
      const { token } = await fleet.token(domainId, { labels: { later: 'long' } })
      await root(`PATCH /v1/label-definitions/${id}`, { value_schema: { type: 'string', maxLength: 2 } })
      expect(refusalOf(await fleet.register(token))).toEqual([
        422,
        'aggregate_invariant',
        `domain:${domainId}/later: The value must have at most 2 characters.`,
      ])
    })

    test('that are immutable are neither changed nor left out', async () => {
      await define('serial', { immutable: true })
      const node = await enrol({ serial: 'a', zone: 'x' })
      expect(refusalOf(await patch(node, { serial: 'b' }))).toEqual([409, 'immutable_violation'])
      expect(refusalOf(await patch(node, { zone: 'x' }))).toEqual([409, 'immutable_violation'])
      expect((await patch(node, { serial: 'a' })).body['labels']).toEqual({ serial: 'a' })
    })

    test('are at most 64, those of its Project included', async () => {
      const project = await fleet.project(domainId)
      await define('one-more', {}, `project:${project}`)
      const node = await enrol({}, { project_id: project })
      await put(node, `project:${project}/one-more`, 'x')
      const labels = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, 'x']))
      expect(refusalOf(await patch(node, labels(64)))).toEqual([409, 'cardinality_exceeded'])
      expect((await patch(node, labels(63))).status).toBe(200)
    })

    test('that somebody defined need assign, and those that were made for labels of nodes do not', async () => {
      const node = await enrol({ loose: 'a' })
      await define('rack')
      const operator = await fleet.holder(domainId, 'operator', `node:${node}`)
      expect((await patch(node, { loose: 'b', other: 'x' }, operator)).body['labels']).toEqual({
        loose: 'b',
        other: 'x',
      })
      expect(refusalOf(await patch(node, { loose: 'b', rack: 'db' }, operator))).toEqual([404, 'definition_not_found'])
      expect(await shown(node)).toEqual({ loose: 'b', other: 'x' })
      expect((await patch(node, { loose: 'b', rack: 'db' })).status).toBe(200)
      const { id } = await fleet.db
        .selectFrom('label_definitions')
        .select('id')
        .where('qualified_key', '=', `domain:${domainId}/loose`)
        .executeTakeFirstOrThrow()
      expect((await root(`PATCH /v1/label-definitions/${id}`, { description: 'Where it may roam' })).status).toBe(200)
      expect(refusalOf(await patch(node, { loose: 'c', rack: 'db' }, operator))).toEqual([404, 'definition_not_found'])
      expect((await patch(node, { loose: 'b' }, operator)).body['labels']).toEqual({ loose: 'b' })
    })

    describe('of the platform', () => {
      test('are those of its Definitions, and need assign', async () => {
        const node = await enrol({ 'platform/env': 'prod' })
        expect(await labelsOf(node)).toEqual([['platform/env', 'prod', fleet.root]])
        expect(await shown(node)).toEqual({ 'platform/env': 'prod' })
        expect(await definitionsOf()).not.toContainEqual({ local_key: 'platform/env' })
        const keeper = await fleet.holder(domainId, 'admin', `domain:${domainId}`)
        await define('secret', {}, 'platform')
        for (const labels of [{ 'platform/none': 'x' }, { 'platform/secret': 'x' }]) {
          expect(refusalOf(await patch(node, labels, keeper))).toEqual([404, 'definition_not_found'])
          expect(refusalOf(await mint(labels, keeper))).toEqual([404, 'definition_not_found'])
        }
        const viewer = await fleet.holder(domainId, 'admin', `domain:${domainId}`)
        await fleet.change(({ tuples }) =>
          tuples.create(
            { subject: viewer, relation: 'viewer', resource: 'platform:main' },
            { domainId: null, projectId: null },
          ),
        )
        expect(await patch(node, { 'platform/secret': 'x' }, viewer)).toMatchObject({
          status: 403,
          body: { missing_relation: { relation: 'assign' } },
        })
        expect(await mint({ 'platform/secret': 'x' }, viewer)).toMatchObject({ status: 403 })
        expect((await patch(node, { 'platform/env': 'dev' }, keeper)).status).toBe(200)
      })

      test('that the node has already need it not', async () => {
        const id = await define('kept', {}, 'platform')
        const node = await enrol({ 'platform/kept': 'x' })
        const operator = await fleet.holder(domainId, 'operator', `node:${node}`)
        const patched = await patch(node, { 'platform/kept': 'x', zone: 'n' }, operator)
        expect(patched.body['labels']).toEqual({ 'platform/kept': 'x', zone: 'n' })
        expect(refusalOf(await patch(node, { 'platform/kept': 'y' }, operator))).toEqual([404, 'definition_not_found'])
        expect((await patch(node, {}, operator)).body['labels']).toEqual({})
        expect((await root(`DELETE /v1/label-definitions/${id}`)).status).toBe(204)
      })

      test('are those of the Domain where a migration made such a key', async () => {
        const at = new Date(0)
        const migrated = fleet.ids.next()
        await fleet.db
          .insertInto('label_definitions')
          .values({
            id: migrated,
            scope_kind: 'domain',
            domain_id: domainId,
            project_id: null,
            local_key: 'platform/env',
            qualified_key: `domain:${domainId}/platform/env`,
            description: '',
            value_schema: '{"type":"string"}',
            on_delete: 'block',
            immutable: false,
            inherit: false,
            kinds: [],
            system: false,
            granted: false,
            implicit: true,
            created_at: at,
            updated_at: at,
          })
          .execute()
        const node = await enrol({ 'platform/env': 'old' })
        expect(await labelsOf(node)).toEqual([['platform/env', 'old', fleet.root]])
        const { body } = await root(`GET /v1/objects/node/${node}/labels`)
        expect(body['items']).toMatchObject([{ definition_id: migrated }])
        expect(await shown(node)).toEqual({ 'platform/env': 'old' })
        await fleet.runJob('label-definition-tuples')
        expect(await fleet.tuplesOf(`labeldefinition:${migrated}`)).toEqual([
          `domain:${domainId} domain labeldefinition:${migrated}`,
        ])
        expect((await patch(node, {})).status).toBe(200)
        expect((await root(`DELETE /v1/label-definitions/${migrated}`)).status).toBe(204)
        expect((await patch(node, { 'platform/env': 'new' })).status).toBe(200)
        expect((await root(`GET /v1/objects/node/${node}/labels`)).body['items']).toMatchObject([
          { definition_id: ENV },
        ])
      })
    })

    test('go with the node, and do not keep its Definitions', async () => {
      const node = await enrol({ lonely: 'x' })
      expect((await root(`DELETE /v1/nodes/${node}`)).status).toBe(204)
      const left = await fleet.db.selectFrom('label_assignments').select('kind').where('object_id', '=', node).execute()
      expect(left).toEqual([])
      const { id } = await fleet.db
        .selectFrom('label_definitions')
        .select('id')
        .where('local_key', '=', 'lonely')
        .executeTakeFirstOrThrow()
      expect((await root(`DELETE /v1/label-definitions/${id}`)).status).toBe(204)
    })
  })
})
