import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import { refusalOf, startLabelled, type Labelled } from '../../support/labels/labelled.ts'
import type { Answer } from '../../support/server/control-plane.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const ENV = '01900000-0000-7000-8000-000000000001'
const SEEDS = ['env', 'managed-by', 'region', 'relay', 'update-group', 'zone'].map((key) => `platform/${key}`)

describe.each(STORES)('Label Definitions on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let world: Labelled
    let domainId: string
    let projectId: string
    const root = (operation: string, body?: unknown) => world.call(world.root, operation, body)
    const at = (id: string) => `/v1/label-definitions/${id}`
    const patch = (id: string, body: unknown) => root(`PATCH ${at(id)}`, body)
    const remove = (id: string) => root(`DELETE ${at(id)}`)
    const create = (members: object) =>
      root('POST /v1/label-definitions', {
        scope: `domain:${domainId}`,
        local_key: `k${world.ids.next()}`,
        value_schema: { type: 'string' },
        ...members,
      })
    const keysOf = ({ body }: Answer) =>
      (body['items'] as readonly Readonly<Record<string, unknown>>[]).map((item) => item['qualified_key'])

    beforeAll(async () => {
      world = await startLabelled(store)
      domainId = await world.domain()
      projectId = await world.project(domainId)
    })
    afterAll(() => world.stop())

    test('are created with their defaults, and shown as they were created', async () => {
      const created = await create({ local_key: 'team', value_schema: { type: 'string', enum: ['a', 'b'] } })
      expect(created.status).toBe(201)
      expect(created.headers.get('location')).toBe(at(String(created.body['id'])))
      expect(created.body).toEqual({
        id: expect.any(String),
        scope: `domain:${domainId}`,
        local_key: 'team',
        qualified_key: `domain:${domainId}/team`,
        description: '',
        value_schema: { type: 'string', enum: ['a', 'b'] },
        on_delete: 'block',
        immutable: false,
        inherit: false,
        kinds: [],
        system: false,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      })
      expect((await root(`GET ${at(String(created.body['id']))}`)).body).toEqual(created.body)
      expect(await world.announced(created)).toEqual([
        ['LabelDefinitionCreated', { definition_id: created.body['id'], qualified_key: `domain:${domainId}/team` }],
      ])
      expect(await world.tuplesOf(`labeldefinition:${String(created.body['id'])}`)).toEqual([
        `domain:${domainId} domain labeldefinition:${String(created.body['id'])}`,
      ])
    })

    test('take an upper-case scope as the same scope', async () => {
      expect((await create({ scope: `domain:${domainId.toUpperCase()}`, local_key: 'upper' })).body).toMatchObject({
        scope: `domain:${domainId}`,
        qualified_key: `domain:${domainId}/upper`,
      })
    })

    test.each([
      `domain:${'-'.repeat(36)}`,
      'domain:00000000-0000-0000-0000-000000000000',
      'project:x',
      'tenant',
      'platform:main',
    ])('refuse the scope %s', async (scope) => {
      expect(refusalOf(await create({ scope }))).toEqual([400, 'invalid_scope'])
      expect(refusalOf(await root(`GET /v1/label-definitions?scope=${scope}`))).toEqual([400, 'invalid_scope'])
    })

    test.each([
      ['platform/env', 'Keys that begin with platform/ are reserved.'],
      ['system.managed', 'Keys that begin with system. are reserved.'],
      ['ctl.version', 'Keys that begin with ctl. are reserved.'],
    ])('refuse the reserved key %s', async (localKey, reason) => {
      expect(refusalOf(await create({ local_key: localKey }))).toEqual([422, 'aggregate_invariant', reason])
    })

    test.each([
      [{ type: 'string', minLength: 3, maxLength: 2 }, 'minLength must be at most maxLength.'],
      [{ type: 'string', pattern: '(a)\\1' }, 'pattern must be a pattern of RE2: invalid escape sequence: `\\1`.'],
      [{ type: 'integer', maxLength: 2 }, 'A value schema of type integer has no member "maxLength".'],
      [{ type: 'string', enum: [1] }, expect.stringMatching(/^enum must/)],
    ])('refuse the contradictory schema %j', async (valueSchema, reason) => {
      expect(refusalOf(await create({ value_schema: valueSchema }))).toEqual([422, 'aggregate_invariant', reason])
    })

    test('have keys that are unique in their scope', async () => {
      expect((await create({ local_key: 'once' })).status).toBe(201)
      expect(refusalOf(await create({ local_key: 'once' }))).toEqual([409, 'definition_conflict'])
      expect((await create({ local_key: 'once', scope: `project:${projectId}` })).status).toBe(201)
      expect((await create({ local_key: 'once', scope: 'platform' })).status).toBe(201)
    })

    test('are listed by qualified key, with those of the enclosing scopes if asked for', async () => {
      const domain = await world.domain()
      const project = await world.project(domain)
      await world.define(`project:${project}`, 'p')
      await world.define(`domain:${domain}`, 'b')
      await world.define(`domain:${domain}`, 'a')
      const list = async (query: string) => keysOf(await root(`GET /v1/label-definitions?limit=200&${query}`))
      expect(await list(`scope=domain:${domain}`)).toEqual([`domain:${domain}/a`, `domain:${domain}/b`])
      expect(await list(`scope=project:${project}`)).toEqual([`project:${project}/p`])
      expect(await list('scope=platform')).toEqual(expect.arrayContaining(SEEDS))
      expect(await list(`scope=domain:${domain}&include=enclosing`)).toEqual([
        `domain:${domain}/a`,
        `domain:${domain}/b`,
        ...(await list('scope=platform')),
      ])
      expect(await list(`scope=project:${project}&include=enclosing`)).toEqual([
        `domain:${domain}/a`,
        `domain:${domain}/b`,
        ...(await list('scope=platform')),
        `project:${project}/p`,
      ])
      const first = await root(`GET /v1/label-definitions?scope=project:${project}&include=enclosing&limit=2`)
      const next = `cursor=${String(first.body['next_cursor'])}`
      expect(keysOf(first)).toEqual([`domain:${domain}/a`, `domain:${domain}/b`])
      expect((await list(`scope=project:${project}&include=enclosing&${next}`)).at(-1)).toBe(`project:${project}/p`)
      expect(refusalOf(await root(`GET /v1/label-definitions?scope=project:${project}&${next}`))).toEqual([
        400,
        'invalid_cursor',
      ])
    })

    describe('are changed', () => {
      test('in all members but scope and key, and announced', async () => {
        const id = await world.define(`domain:${domainId}`, 'changes')
        const members = {
          description: 'Who pays',
          value_schema: { type: 'integer', minimum: 1 },
          on_delete: 'cascade',
          immutable: true,
          inherit: true,
          kinds: ['node', 'project'],
        }
        const changed = await patch(id, members)
        expect(changed.body).toMatchObject(members)
        expect((await root(`GET ${at(id)}`)).body).toEqual(changed.body)
        expect(await world.announced(changed)).toEqual([
          ['LabelDefinitionUpdated', { definition_id: id, qualified_key: `domain:${domainId}/changes` }],
          ['node_labels_changed', { definition_id: id, scope: `domain:${domainId}` }],
        ])
      })

      test.each([
        ['the scope', { scope: 'platform' }],
        ['the key, even by its own name', { local_key: 'fixed' }],
        ['the key, beside others', { local_key: null, description: 'x' }],
        ['what is immutable back', { immutable: false }],
      ])('and not in %s', async (title, body) => {
        const localKey = `fixed-${title.replaceAll(/\W+/g, '-')}`
        const id = await world.define(`domain:${domainId}`, localKey, { immutable: true })
        expect(refusalOf(await patch(id, body))).toEqual([409, 'immutable_violation'])
        expect((await root(`GET ${at(id)}`)).body).toMatchObject({ immutable: true, local_key: localKey })
      })

      test('to a schema or kinds that present labels fit', async () => {
        const node = await world.member({ domainId })
        const id = await world.define(`domain:${domainId}`, 'narrows')
        await world.label(`node/${node}`, `domain:${domainId}/narrows`, 'long value')
        for (const body of [
          { value_schema: { type: 'string', maxLength: 4 } },
          { value_schema: { type: 'integer' } },
          { kinds: ['project'] },
        ])
          expect(await patch(id, body)).toMatchObject({
            status: 409,
            body: { code: 'assignments_exist', assignments: 1 },
          })
        expect((await patch(id, { kinds: ['node'], value_schema: { type: 'string', maxLength: 10 } })).status).toBe(200)
      })

      test('with another type only while no stored selector names them', async () => {
        const id = await world.define(`domain:${domainId}`, 'compared', { value_schema: { type: 'integer' } })
        await world.db.insertInto('selector_definitions').values({ definition_id: id, holder: 'policy:x' }).execute()
        expect(await patch(id, { value_schema: { type: 'string' } })).toMatchObject({
          status: 409,
          body: { code: 'definition_in_use', holders: ['policy:x'] },
        })
        expect((await patch(id, { value_schema: { type: 'integer', maximum: 4 } })).status).toBe(200)
      })
    })

    describe('of the system', () => {
      test('cannot be deleted', async () => {
        expect(refusalOf(await remove(ENV))).toEqual([
          422,
          'aggregate_invariant',
          'platform/env is a system label, which cannot be deleted.',
        ])
      })

      test('take another description and value schema, and keep the rest', async () => {
        expect(
          (await patch(ENV, { description: 'Stage', value_schema: { type: 'string', enum: ['prod'] } })).status,
        ).toBe(200)
        expect((await patch(ENV, { on_delete: 'block', inherit: true })).status).toBe(200)
        for (const body of [{ on_delete: 'orphan' }, { inherit: false }, { immutable: true }, { kinds: ['node'] }])
          expect(refusalOf(await patch(ENV, body)).slice(0, 2)).toEqual([422, 'aggregate_invariant'])
        expect((await patch(ENV, { value_schema: { type: 'string' } })).status).toBe(200)
      })

      test('belong to the platform, and may be assigned by everybody until that is taken back', async () => {
        expect(await world.tuplesOf(`labeldefinition:${ENV}`)).toEqual([
          `platform:main platform labeldefinition:${ENV}`,
          `serviceaccount:* assigner labeldefinition:${ENV}`,
          `user:* assigner labeldefinition:${ENV}`,
        ])
        const operator = await world.holder(domainId, 'operator', `domain:${domainId}`)
        const node = await world.member({ domainId })
        expect((await world.put(`node/${node}`, 'platform/env', 'prod', operator)).status).toBe(200)
        expect(await world.runJob('label-definition-tuples')).toBe(false)
        const { id } = await world.db
          .selectFrom('relation_tuples')
          .select('id')
          .where('resource_id', '=', ENV)
          .where('subject_type', '=', 'user')
          .executeTakeFirstOrThrow()
        await world.change(({ tuples }) => tuples.delete(id))
        await world.runJob('label-definition-tuples')
        expect(refusalOf(await world.put(`node/${node}`, 'platform/env', 'dev', operator))).toEqual([
          404,
          'definition_not_found',
        ])
      })
    })

    describe('are deleted', () => {
      const labelled = async (onDelete: string) => {
        const localKey = `d${world.ids.next()}`
        const id = await world.define(`domain:${domainId}`, localKey, { on_delete: onDelete })
        const node = await world.member({ domainId })
        await world.label(`node/${node}`, `domain:${domainId}/${localKey}`, 'x')
        return { id, node, localKey, key: `domain:${domainId}/${localKey}` }
      }
      const nodeLabels = async (node: string) =>
        (await world.db.selectFrom('nodes').select('labels').where('id', '=', node).executeTakeFirstOrThrow()).labels

      test('with their tuples', async () => {
        const id = await world.define(`domain:${domainId}`, 'gone')
        const deleted = await remove(id)
        expect(deleted.status).toBe(204)
        expect(await world.tuplesOf(`labeldefinition:${id}`)).toEqual([])
        expect(await world.announced(deleted)).toEqual([
          ['LabelDefinitionDeleted', { definition_id: id, qualified_key: `domain:${domainId}/gone` }],
        ])
        expect(refusalOf(await root(`GET ${at(id)}`))).toEqual([404, 'definition_not_found'])
        expect(refusalOf(await remove(id))).toEqual([404, 'definition_not_found'])
      })

      test('not while assigned, where on_delete is block', async () => {
        const { id, node, key } = await labelled('block')
        expect(await remove(id)).toMatchObject({ status: 409, body: { code: 'assignments_exist', assignments: 1 } })
        expect(await world.labelsOf(`node/${node}`)).toEqual([`${key}=x`])
      })

      test('with their labels, where it is cascade', async () => {
        const { id, node, key } = await labelled('cascade')
        const deleted = await remove(id)
        expect(deleted.status).toBe(204)
        expect(await world.labelsOf(`node/${node}`)).toEqual([])
        expect(await nodeLabels(node)).toEqual({})
        expect(await world.announced(deleted)).toEqual([
          ['node_labels_changed', { definition_id: id, scope: `domain:${domainId}` }],
          ['LabelDefinitionDeleted', { definition_id: id, qualified_key: key }],
        ])
      })

      test('without their labels, where it is orphan', async () => {
        const { id, node, key, localKey } = await labelled('orphan')
        const deleted = await remove(id)
        expect(deleted.status).toBe(204)
        expect(await world.announced(deleted)).toContainEqual([
          'node_labels_changed',
          { definition_id: id, scope: `domain:${domainId}` },
        ])
        expect(await world.labelsOf(`node/${node}`)).toEqual([`${key}=x`])
        expect(await world.labelsOf(`node/${node}`, 'effective')).toEqual([])
        expect(await nodeLabels(node)).toEqual({ [localKey]: 'x' })
        const again = await world.define(`domain:${domainId}`, localKey)
        expect(await world.labelsOf(`node/${node}`, 'effective')).toEqual([])
        const adopted = await world.put(`node/${node}`, key, 'x')
        expect(adopted.body).toMatchObject({ definition_id: again })
        expect(await world.labelsOf(`node/${node}`, 'effective')).toEqual([`${key}=x`])
      })

      test('not while a stored selector names them', async () => {
        const { id, node, key } = await labelled('cascade')
        const holders = ['policy:b', 'policy:a']
        const rows = holders.map((holder) => ({ definition_id: id, holder }))
        await world.db.insertInto('selector_definitions').values(rows).execute()
        expect(await remove(id)).toMatchObject({
          status: 409,
          body: { code: 'definition_in_use', holders: ['policy:a', 'policy:b'] },
        })
        expect(await world.labelsOf(`node/${node}`)).toEqual([`${key}=x`])
      })

      test('with their Project or Domain, unless a stored selector names them', async () => {
        const domain = await world.domain()
        const project = await world.project(domain)
        const ofProject = await world.define(`project:${project}`, 'p')
        const ofDomain = await world.define(`domain:${domain}`, 'd')
        await world.label(`project/${project}`, `project:${project}/p`, 'x')
        await world.label(`project/${project}`, `domain:${domain}/d`, 'x')
        await world.label(`domain/${domain}`, `domain:${domain}/d`, 'x')
        const named = { definition_id: ofProject, holder: 'policy:x' }
        await world.db.insertInto('selector_definitions').values(named).execute()
        expect(await root(`DELETE /v1/projects/${project}`)).toMatchObject({
          status: 409,
          body: { code: 'project_not_empty', counts: { label_definitions: 1 } },
        })
        await world.db.deleteFrom('selector_definitions').where('definition_id', '=', ofProject).execute()
        expect((await root(`DELETE /v1/projects/${project}`)).status).toBe(204)
        expect((await root(`DELETE /v1/domains/${domain}`)).status).toBe(204)
        for (const id of [ofProject, ofDomain]) {
          expect(refusalOf(await root(`GET ${at(id)}`))).toEqual([404, 'definition_not_found'])
          expect(await world.tuplesOf(`labeldefinition:${id}`)).toEqual([])
        }
      })
    })

    describe('are hidden from strangers', () => {
      test('byte for byte as an unknown id, and refused openly to who may only see them', async () => {
        const id = await world.define(`domain:${domainId}`, 'hidden')
        const stranger = await world.principal(world.home)
        const viewer = await world.holder(domainId, 'viewer', `domain:${domainId}`)
        const textOf = ({ body: { correlation_id: _id, instance: _instance, ...body } }: Answer) => body
        for (const method of ['GET', 'PATCH', 'DELETE']) {
          const body = method === 'PATCH' ? { description: 'x' } : undefined
          const hidden = await world.call(stranger, `${method} ${at(id)}`, body)
          const unknown = await world.call(stranger, `${method} ${at(NOWHERE)}`, body)
          expect(refusalOf(hidden)).toEqual([404, 'definition_not_found'])
          expect(textOf(hidden)).toEqual(textOf(unknown))
          const seen = await world.call(viewer, `${method} ${at(id)}`, body)
          expect([method, seen.status]).toEqual([method, method === 'GET' ? 200 : 403])
        }
      })

      test('in lists too', async () => {
        const viewer = await world.holder(domainId, 'viewer', `domain:${domainId}`)
        const hidden = await world.define('platform', 'for-admins')
        const { body } = await world.call(
          viewer,
          `GET /v1/label-definitions?scope=domain:${domainId}&include=enclosing&limit=200`,
        )
        const ids = (body['items'] as readonly { id: string }[]).map(({ id }) => id)
        expect(ids).not.toContain(hidden)
        expect(ids).toContain('01900000-0000-7000-8000-000000000002')
        expect(refusalOf(await world.call(viewer, 'GET /v1/label-definitions?scope=platform'))).toEqual([
          403,
          'permission_denied',
          'insufficient_relation',
        ])
      })
    })
  })
})
