import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import { refusalOf, startLabelled, type Labelled } from '../../support/labels/labelled.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

describe.each(STORES)('Labels of objects on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let world: Labelled
    let domainId: string
    let projectId: string
    let node: string
    const root = (operation: string, body?: unknown) => world.call(world.root, operation, body)
    const remove = (object: string, key: string, as = world.root) =>
      world.call(as, `DELETE /v1/objects/${object}/labels?qualified_key=${encodeURIComponent(key)}`)
    /** A new Definition of the Domain, by its qualified key. */
    const key = async (members: object = {}, scope = `domain:${domainId}`) => {
      const localKey = `k${world.ids.next()}`
      await world.define(scope, localKey, members)
      return `${scope}/${localKey}`
    }
    const rowOf = (id: string) =>
      world.db.selectFrom('nodes').select('labels').where('id', '=', id).executeTakeFirstOrThrow()

    beforeAll(async () => {
      world = await startLabelled(store)
      domainId = await world.domain()
      projectId = await world.project(domainId)
      node = await world.member({ domainId, projectId })
    })
    afterAll(() => world.stop())

    test('are set, changed and removed, and announced without their values', async () => {
      const tier = await key()
      const id = (
        await world.db
          .selectFrom('label_definitions')
          .select('id')
          .where('qualified_key', '=', tier)
          .executeTakeFirstOrThrow()
      ).id
      const names = { kind: 'node', object_id: node, qualified_key: tier, definition_id: id }
      const changed = ['node_labels_changed', { definition_id: id, scope: `node:${node}` }]
      const set = await world.put(`node/${node}`, tier, 'web')
      expect(set.body).toEqual({
        ...names,
        value: 'web',
        assigned_by: world.root,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      })
      expect(await world.announced(set)).toEqual([['LabelAssigned', names], changed])
      expect(await rowOf(node)).toEqual({ labels: { [tier.slice(44)]: 'web' } })
      world.clock.nowMs += 1000
      const again = await world.put(`node/${node}`, tier, 'web')
      expect(again.body).toEqual(set.body)
      expect(await world.announced(again)).toEqual([])
      const other = await world.put(`node/${node}`, tier, 'db')
      expect(other.body).toMatchObject({ value: 'db', created_at: set.body['created_at'] })
      expect(other.body['updated_at']).not.toBe(set.body['updated_at'])
      const removed = await remove(`node/${node}`, tier)
      expect(removed.status).toBe(204)
      expect(await world.announced(removed)).toEqual([['LabelRemoved', names], changed])
      expect(await rowOf(node)).toEqual({ labels: {} })
      const absent = await remove(`node/${node}`, tier)
      expect([absent.status, await world.announced(absent)]).toEqual([204, []])
    })

    test('are on an object from its creation where that names the set of files it belongs to', async () => {
      const name = () => `m${world.ids.next()}`
      const named = { display_name: 'Marked', managed_by: 'acme-files' }
      const made = [
        ['group', `domains/${domainId}/groups`, { slug: name(), ...named }],
        ['project', `domains/${domainId}/projects`, { slug: name(), ...named }],
        ['resource', `projects/${projectId}/resources`, { slug: name(), kind: 'network', ...named }],
      ] as const
      for (const [kind, path, body] of made) {
        const created = await root(`POST /v1/${path}`, body)
        const { body: found } = await root(`GET /v1/objects/${kind}/${String(created.body['id'])}/labels`)
        expect([created.status, found['items']]).toMatchObject([
          201,
          [{ kind, qualified_key: 'platform/managed-by', value: 'acme-files', assigned_by: world.root }],
        ])
        expect(await world.announced(created)).toContainEqual(['LabelAssigned', expect.anything()])
      }
    })

    test('are listed for a Domain to those who maintain the objects, without Definitions that they may not see', async () => {
      const other = await world.domain()
      const project = await world.project(other)
      const members = [
        await world.member({ domainId: other }),
        await world.member({ domainId: other, projectId: project }),
      ]
      const [seen, orphaned] = [`domain:${other}/seen`, `domain:${other}/gone`]
      await world.define(`domain:${other}`, 'seen')
      await world.define(`domain:${other}`, 'gone', { on_delete: 'orphan' })
      for (const member of members) await world.put(`node/${member}`, seen, 'yes')
      await world.put(`project/${project}`, 'platform/env', 'prod')
      await world.put(`project/${project}`, orphaned, 'left')
      const { id } = await world.db
        .selectFrom('label_definitions')
        .select('id')
        .where('qualified_key', '=', orphaned)
        .executeTakeFirstOrThrow()
      expect((await root(`DELETE /v1/label-definitions/${id}`)).status).toBe(204)
      const shown = async (as: string, query = '') => {
        const { status, body } = await world.call(as, `GET /v1/domains/${other}/labels${query}`)
        const items = (body['items'] ?? []) as readonly Readonly<Record<string, unknown>>[]
        return [status, items.map((label) => [label['kind'], label['object_id'], label['qualified_key']])]
      }
      const ofNodes = members.toSorted().map((member) => ['node', member, seen])
      expect(await shown(world.root)).toEqual([200, [...ofNodes, ['project', project, 'platform/env']]])
      expect(await shown(world.root, '?kind=project')).toEqual([200, [['project', project, 'platform/env']]])
      expect(await shown(world.root, '?kind=network')).toEqual([200, []])
      const viewer = await world.holder(other, 'viewer', `domain:${other}`)
      expect(await shown(viewer)).toEqual([200, []])
      const operator = await world.holder(other, 'operator', `domain:${other}`)
      expect(await shown(operator, '?kind=node')).toEqual([200, ofNodes])
    })

    test('keep integers and booleans as such, and as text in the row of a node', async () => {
      const member = await world.member({ domainId })
      const [weight, spare] = [
        await key({ value_schema: { type: 'integer' } }),
        await key({ value_schema: { type: 'boolean' } }),
      ]
      expect((await world.put(`node/${member}`, weight, -7)).body).toMatchObject({ value: -7 })
      expect((await world.put(`node/${member}`, spare, false)).body).toMatchObject({ value: false })
      const { body } = await root(`GET /v1/objects/node/${member}/labels`)
      expect(body['items']).toMatchObject([{ value: -7 }, { value: false }])
      expect(await rowOf(member)).toEqual({ labels: { [weight.slice(44)]: '-7', [spare.slice(44)]: 'false' } })
    })

    test('take the values of their schema only', async () => {
      const env = await key({ value_schema: { type: 'string', enum: ['prod', 'dev'] } })
      const count = await key({ value_schema: { type: 'integer', maximum: 9 } })
      const free = await key()
      for (const [label, value] of [
        [env, 'stage'],
        [env, 1],
        [count, 10],
        [count, '3'],
        [free, 'x'.repeat(257)],
        [free, true],
      ] as const)
        expect(refusalOf(await world.put(`node/${node}`, label, value)).slice(0, 2)).toEqual([
          422,
          'aggregate_invariant',
        ])
      expect((await world.put(`node/${node}`, free, '😀'.repeat(256))).status).toBe(200)
      expect((await remove(`node/${node}`, free)).status).toBe(204)
    })

    test('go on objects that the scope of their Definition contains', async () => {
      const elsewhere = await world.domain()
      const other = await world.project(elsewhere)
      const inProject = await key({}, `project:${projectId}`)
      const inDomain = await key()
      const isRefused = async (object: string, label: string) =>
        expect(refusalOf(await world.put(object, label, 'x'))).toEqual([
          422,
          'aggregate_invariant',
          `${label} is defined in another scope than that of the object.`,
        ])
      await isRefused(`domain/${elsewhere}`, inDomain)
      await isRefused(`project/${other}`, inDomain)
      await isRefused(`domain/${domainId}`, inProject)
      await isRefused(`project/${other}`, inProject)
      await isRefused(`node/${await world.member({ domainId })}`, inProject)
      for (const object of [`project/${projectId}`, `node/${node}`, `workload/${await world.resource(projectId)}`])
        expect((await world.put(object, inProject, 'x')).status).toBe(200)
      expect((await remove(`node/${node}`, inProject)).status).toBe(204)
    })

    test('go on the kinds that their Definition names, by any name of the object', async () => {
      const forNetworks = await key({ kinds: ['network', 'domain'] })
      const network = await world.resource(projectId, 'network')
      const workload = await world.resource(projectId)
      expect((await world.put(`network/${network}`, forNetworks, 'x')).status).toBe(200)
      expect((await world.put(`resource/${network}`, forNetworks, 'y')).body).toMatchObject({ kind: 'resource' })
      expect(refusalOf(await world.put(`workload/${workload}`, forNetworks, 'x'))).toEqual([
        422,
        'aggregate_invariant',
        `${forNetworks} may only be put on objects of these kinds: network, domain.`,
      ])
      expect(await world.labelsOf(`network/${network}`)).toEqual([`${forNetworks}=y`])
    })

    test('are of every kind, and go with their object', async () => {
      const user = (await world.principal(domainId)).slice('user:'.length)
      const robot = (await world.principal(domainId, 'service-identity')).slice('serviceaccount:'.length)
      const group = await world.group(domainId)
      for (const object of [`user/${user}`, `serviceaccount/${robot}`, `group/${group}`, `domain/${domainId}`])
        expect([object, (await world.put(object, 'platform/managed-by', 'x')).status]).toEqual([object, 200])
      expect((await root(`DELETE /v1/domains/${domainId}/groups/${group}`)).status).toBe(204)
      const left = await world.db
        .selectFrom('label_assignments')
        .select('kind')
        .where('object_id', '=', group)
        .execute()
      expect(left).toEqual([])
      expect((await remove(`domain/${domainId}`, 'platform/managed-by')).status).toBe(204)
    })

    test('that are immutable are neither changed nor removed, but by their object or Definition', async () => {
      const member = await world.member({ domainId })
      const fixed = await key({ immutable: true, on_delete: 'cascade' })
      expect((await world.put(`node/${member}`, fixed, 'a')).status).toBe(200)
      expect((await world.put(`node/${member}`, fixed, 'a')).status).toBe(200)
      expect(refusalOf(await world.put(`node/${member}`, fixed, 'b'))).toEqual([409, 'immutable_violation'])
      expect(refusalOf(await remove(`node/${member}`, fixed))).toEqual([409, 'immutable_violation'])
      expect(await world.labelsOf(`node/${member}`)).toEqual([`${fixed}=a`])
      const { id } = await world.db
        .selectFrom('label_definitions')
        .select('id')
        .where('qualified_key', '=', fixed)
        .executeTakeFirstOrThrow()
      expect((await root(`DELETE /v1/label-definitions/${id}`)).status).toBe(204)
      expect(await world.labelsOf(`node/${member}`)).toEqual([])
    })

    test('are at most 64 of an object, orphaned ones included, under parallel changes too', async () => {
      const member = await world.member({ domainId })
      const orphan = await key({ on_delete: 'orphan' })
      await world.label(`node/${member}`, orphan, 'x')
      const { id } = await world.db
        .selectFrom('label_definitions')
        .select('id')
        .where('qualified_key', '=', orphan)
        .executeTakeFirstOrThrow()
      expect((await root(`DELETE /v1/label-definitions/${id}`)).status).toBe(204)
      const keys: string[] = []
      for (let n = 0; n < 100; n++) keys.push(await key())
      const answers = await Promise.all(keys.map((each) => world.put(`node/${member}`, each, 'x')))
      const codes = answers.map(({ status, body }) => (status === 200 ? 200 : body['code']))
      expect(codes.filter((code) => code === 200)).toHaveLength(63)
      expect(codes.filter((code) => code === 'cardinality_exceeded')).toHaveLength(37)
      expect(await world.labelsOf(`node/${member}`)).toHaveLength(64)
      const present = keys[codes.indexOf(200)] ?? ''
      expect((await world.put(`node/${member}`, present, 'y')).status).toBe(200)
      const refused = keys[codes.indexOf('cardinality_exceeded')] ?? ''
      expect((await remove(`node/${member}`, orphan)).status).toBe(204)
      expect((await world.put(`node/${member}`, refused, 'x')).status).toBe(200)
    })

    test('are inherited from Project, then Domain, where the Definition lets them', async () => {
      const domain = await world.domain()
      const project = await world.project(domain)
      const scope = `domain:${domain}`
      const [both, low, own] = [
        await key({ inherit: true }, scope),
        await key({ inherit: true }, scope),
        await key({}, scope),
      ]
      const member = await world.member({ domainId: domain, projectId: project })
      const set = (object: string, label: string, value: string) => world.label(object, label, value)
      await set(`domain/${domain}`, both, 'of the Domain')
      await set(`domain/${domain}`, low, 'of the Domain')
      await set(`domain/${domain}`, own, 'of the Domain')
      const ofProject = await world.put(`project/${project}`, both, 'of the Project')
      expect((await world.announced(ofProject)).at(-1)).toEqual([
        'node_labels_changed',
        { definition_id: ofProject.body['definition_id'], scope: `project:${project}` },
      ])
      expect(await world.labelsOf(`node/${member}`)).toEqual([])
      const { body } = await root(`GET /v1/objects/node/${member}/labels?view=effective`)
      expect(body['items']).toMatchObject([
        { kind: 'project', object_id: project, qualified_key: both, value: 'of the Project' },
        { kind: 'domain', object_id: domain, qualified_key: low, value: 'of the Domain' },
      ])
      await set(`node/${member}`, both, 'own')
      expect(await world.labelsOf(`node/${member}`, 'effective')).toEqual([`${both}=own`, `${low}=of the Domain`])
      expect(await world.labelsOf(`project/${project}`, 'effective')).toEqual([
        `${both}=of the Project`,
        `${low}=of the Domain`,
      ])
      expect(await world.labelsOf(`workload/${await world.resource(project)}`, 'effective')).toEqual([
        `${both}=of the Project`,
        `${low}=of the Domain`,
      ])
      const plain = await world.put(`project/${project}`, own, 'x')
      expect((await world.announced(plain)).map((row) => (row as unknown[])[0])).toEqual(['LabelAssigned'])
    })

    test('ask maintainer, then the body, then whether the Definition is seen, then assign', async () => {
      const label = await key()
      const operator = await world.holder(domainId, 'operator', `domain:${domainId}`)
      const nodeOperator = await world.holder(domainId, 'operator', `node:${node}`)
      const viewer = await world.holder(domainId, 'viewer', `domain:${domainId}`)
      const both = await world.holder(domainId, 'operator', `node:${node}`)
      await world.change(({ tuples }) =>
        tuples.create(
          { subject: both, relation: 'viewer', resource: `domain:${domainId}` },
          { domainId, projectId: null },
        ),
      )
      const put = (as: string, body: unknown) => world.call(as, `PUT /v1/objects/node/${node}/labels`, body)
      const missing = ({ status, body }: Awaited<ReturnType<typeof put>>) => [
        status,
        body['code'],
        (body['missing_relation'] as { relation?: string } | undefined)?.relation,
      ]
      const good = { qualified_key: label, value: 'x' }
      expect(missing(await put(viewer, { nonsense: true }))).toEqual([403, 'permission_denied', 'maintainer'])
      expect(missing(await put(viewer, good))).toEqual([403, 'permission_denied', 'maintainer'])
      expect(missing(await put(nodeOperator, { nonsense: true }))).toEqual([400, 'invalid_body', undefined])
      expect(missing(await put(nodeOperator, good))).toEqual([404, 'definition_not_found', undefined])
      expect(missing(await put(both, good))).toEqual([403, 'permission_denied', 'assign'])
      expect(missing(await put(operator, { ...good, qualified_key: `domain:${domainId}/none` }))).toEqual([
        404,
        'definition_not_found',
        undefined,
      ])
      const hidden = await put(nodeOperator, good)
      const unknown = await put(nodeOperator, { ...good, qualified_key: `domain:${domainId}/none` })
      const textOf = ({ correlation_id: _id, ...body }: typeof hidden.body) => body
      expect(textOf(hidden.body)).toEqual(textOf(unknown.body))
      expect((await put(operator, good)).status).toBe(200)
      expect((await world.audit(hidden))?.outcome).toBe('permission_denied')
      expect((await remove(`node/${node}`, label, nodeOperator)).status).toBe(204)
    })

    test.each([
      [`tenant/${NOWHERE}`, 'invalid_kind'],
      ['node/not-an-id', 'invalid_object_id'],
      ['node/00000000-0000-0000-0000-000000000000', 'invalid_object_id'],
    ])('of %s are refused, since it names no object', async (object, code) => {
      expect(refusalOf(await root(`GET /v1/objects/${object}/labels`))).toEqual([400, code])
    })

    test('of an object that went away after the gate are not found', async () => {
      const gone = await world.member({ domainId })
      await world.db.deleteFrom('nodes').where('id', '=', gone).execute()
      expect(refusalOf(await root(`GET /v1/objects/node/${gone}/labels`))).toEqual([404, 'object_not_found'])
      expect(refusalOf(await world.put(`node/${gone}`, 'platform/env', 'x'))).toEqual([404, 'object_not_found'])
      expect(refusalOf(await remove(`node/${gone}`, 'platform/env'))).toEqual([404, 'object_not_found'])
      expect(refusalOf(await root(`GET /v1/objects/node/${NOWHERE}/labels`)).slice(0, 2)).toEqual([
        403,
        'permission_denied',
      ])
    })
  })
})
