import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { START_MS } from '../support/server/test-backend.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'

describe.each(STORES)('Resources on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let tenancy: Tenancy
    let domainId: string
    let projectId: string
    let deployer: string
    let at: string
    let slugs = 0
    beforeAll(async () => {
      tenancy = await startTenancy(store)
      domainId = await tenancy.domain()
      projectId = await tenancy.project(domainId)
      deployer = await tenancy.holder(domainId, 'deployer', `project:${projectId}`)
      at = `/v1/projects/${projectId}/resources`
    })
    afterAll(() => tenancy.stop())

    const create = (members: Readonly<Record<string, unknown>> = {}, as = deployer) => {
      slugs += 1
      return tenancy.call(as, `POST ${at}`, { kind: 'bridge', slug: `r-${slugs}`, display_name: 'R', ...members })
    }
    const resource = async (members?: Readonly<Record<string, unknown>>) => {
      const answer = await create(members)
      expect(answer.status).toBe(201)
      return String(answer.body['id'])
    }
    const hostsOf = async (id: string) => {
      const query = tenancy.db.selectFrom('resource_hosts').select('node_id').where('resource_id', '=', id)
      return (await query.execute()).map(({ node_id }) => node_id).toSorted()
    }
    const row = (id: string) => tenancy.db.selectFrom('resources').selectAll().where('id', '=', id).executeTakeFirst()

    describe('CreateResource', () => {
      it('stores the resource with its hosts, hangs it off its Project, announces and audits it', async () => {
        const hosts = [await tenancy.node({ domainId }), await tenancy.node({ domainId, projectId })]
        const answer = await create({
          slug: 'gate',
          display_name: 'Gate',
          host_node_ids: [hosts[1]?.toUpperCase(), hosts[0], hosts[1]],
        })
        expect(answer.status).toBe(201)
        const id = String(answer.body['id'])
        expect(answer.body).toEqual({
          id,
          domain_id: domainId,
          project_id: projectId,
          kind: 'bridge',
          slug: 'gate',
          display_name: 'Gate',
          host_node_ids: hosts,
          created_at: '2026-03-01T08:00:00.000Z',
          updated_at: '2026-03-01T08:00:00.000Z',
        })
        expect(await row(id)).toMatchObject({
          domain_id: domainId,
          project_id: projectId,
          kind: 'bridge',
          slug: 'gate',
        })
        expect(await hostsOf(id)).toEqual(hosts)
        expect(await tenancy.tuplesOf(`resource:${id}`)).toEqual([`project:${projectId} project resource:${id}`])
        expect(await tenancy.outbox(answer)).toEqual([
          {
            event: 'ResourceCreated',
            domain_id: domainId,
            aggregate: `resource:${id}`,
            payload: { resource_id: id, project_id: projectId, kind: 'bridge', slug: 'gate' },
          },
        ])
        expect(await tenancy.audit(answer)).toEqual({
          relation: 'resource.create',
          object: `resource:${id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId,
        })
      })

      it.each(['network', 'workload'])('makes a %s known under its own type too', async (kind) => {
        const id = await resource({ kind })
        expect(await tenancy.tuplesOf(`${kind}:${id}`)).toEqual([`project:${projectId} project ${kind}:${id}`])
        expect((await tenancy.call(deployer, `GET ${at}/${id}`)).body).toMatchObject({ kind, host_node_ids: [] })
      })

      it('refuses a host of another Domain and of none, and stores nothing', async () => {
        const elsewhere = await tenancy.node({ domainId: tenancy.home })
        const here = await tenancy.node({ domainId })
        const before = await tenancy.db.selectFrom('resources').select('id').execute()
        for (const stranger of [elsewhere, tenancy.ids.next()]) {
          const answer = await create({ host_node_ids: [here, stranger] })
          expect(answer.status).toBe(400)
          expect(answer.body).toMatchObject({ code: 'host_node_not_in_domain' })
          expect(await tenancy.outbox(answer)).toEqual([])
        }
        expect(await tenancy.db.selectFrom('resources').select('id').execute()).toEqual(before)
      })

      it('takes a slug once in a Project whatever the kind, and again in another Project', async () => {
        await resource({ kind: 'vm', slug: 'same' })
        const again = await create({ kind: 'network', slug: 'same' })
        expect([again.status, again.body['code']]).toEqual([409, 'slug_conflict'])
        const other = await tenancy.project(domainId)
        const body = { kind: 'vm', slug: 'same', display_name: 'Same' }
        expect((await tenancy.call(tenancy.root, `POST /v1/projects/${other}/resources`, body)).status).toBe(201)
      })

      it('is refused to a viewer of the Project', async () => {
        const viewer = await tenancy.holder(domainId, 'viewer', `project:${projectId}`)
        const answer = await create({ slug: 'viewers-own' }, viewer)
        expect(answer.status).toBe(403)
        expect(
          await tenancy.db.selectFrom('resources').select('id').where('slug', '=', 'viewers-own').execute(),
        ).toEqual([])
      })

      it('answers project_not_found where the Project went away after the gate', async () => {
        const gone = tenancy.ids.next()
        await tenancy.change(({ tuples }) =>
          tuples.createStructural(
            { subject: `domain:${domainId}`, relation: 'domain', resource: `project:${gone}` },
            { domainId, projectId: gone },
          ),
        )
        const body = { kind: 'vm', slug: 'late', display_name: 'Late' }
        const answer = await tenancy.call(tenancy.root, `POST /v1/projects/${gone}/resources`, body)
        expect([answer.status, answer.body['code']]).toEqual([404, 'project_not_found'])
      })
    })

    describe('ListResources', () => {
      it('shows the resources of that Project that the caller may observe, by slug, without a role on the Project', async () => {
        const own = await tenancy.project(domainId)
        const ids: string[] = []
        for (const slug of ['b', 'c', 'a']) {
          const body = { kind: 'vm', slug, display_name: slug }
          const answer = await tenancy.call(tenancy.root, `POST /v1/projects/${own}/resources`, body)
          ids.push(String(answer.body['id']))
        }
        const [b, , a] = ids
        const observer = await tenancy.holder(domainId, 'viewer', `resource:${b}`)
        const lists = async (as: string) => (await tenancy.call(as, `GET /v1/projects/${own}/resources`)).body
        expect(await lists(observer)).toMatchObject({ items: [{ id: b }], next_cursor: null })
        expect(await lists(tenancy.root)).toMatchObject({ items: [{ id: a }, { id: b }, { slug: 'c' }] })
      })
    })

    describe('GetResource', () => {
      it('does not find a resource under another Project, whoever asks', async () => {
        const id = await resource()
        const other = await tenancy.project(domainId)
        const answer = await tenancy.call(tenancy.root, `GET /v1/projects/${other}/resources/${id}`)
        expect([answer.status, answer.body['code']]).toEqual([404, 'resource_not_found'])
      })

      it('is refused without the relation observe', async () => {
        const id = await resource()
        const stranger = await tenancy.principal(domainId)
        expect((await tenancy.call(stranger, `GET ${at}/${id}`)).status).toBe(403)
      })
    })

    describe('PatchResource', () => {
      it('renames and leaves the hosts, or changes the hosts and leaves the name', async () => {
        const [one, two] = [await tenancy.node({ domainId }), await tenancy.node({ domainId })]
        const id = await resource({ host_node_ids: [one] })
        tenancy.clock.nowMs = START_MS + 5_000
        const renamed = await tenancy.call(tenancy.root, `PATCH ${at}/${id}`, { display_name: 'New' })
        tenancy.clock.nowMs = START_MS
        const stamp = '2026-03-01T08:00:05.000Z'
        expect(renamed.body).toMatchObject({ display_name: 'New', host_node_ids: [one], updated_at: stamp })
        const moved = await tenancy.call(tenancy.root, `PATCH ${at}/${id}`, { host_node_ids: [two] })
        expect(moved.body).toMatchObject({ display_name: 'New', host_node_ids: [two] })
        expect(await hostsOf(id)).toEqual([two])
        expect(await tenancy.outbox(moved)).toMatchObject([{ event: 'ResourceUpdated', domain_id: domainId }])
        expect(await tenancy.audit(moved)).toMatchObject({
          relation: 'resource.update',
          object: `resource:${id}`,
          domainId,
        })
        const cleared = await tenancy.call(tenancy.root, `PATCH ${at}/${id}`, { host_node_ids: [] })
        expect(cleared.body).toMatchObject({ host_node_ids: [] })
      })

      it('refuses a host elsewhere, and changes nothing', async () => {
        const id = await resource({ host_node_ids: [await tenancy.node({ domainId })] })
        const before = [await row(id), await hostsOf(id)]
        const patch = { display_name: 'New', host_node_ids: [await tenancy.node({ domainId: tenancy.home })] }
        const elsewhere = await tenancy.call(tenancy.root, `PATCH ${at}/${id}`, patch)
        expect([elsewhere.status, elsewhere.body['code']]).toEqual([400, 'host_node_not_in_domain'])
        expect([await row(id), await hostsOf(id)]).toEqual(before)
        expect(await tenancy.outbox(elsewhere)).toEqual([])
      })

      it('is refused to who may deploy but not manage', async () => {
        const id = await resource()
        expect((await tenancy.call(deployer, `PATCH ${at}/${id}`, { display_name: 'Mine' })).status).toBe(403)
      })
    })

    describe('DeleteResource', () => {
      it('removes the row, its hosts and every tuple under either name, announces and audits it', async () => {
        const id = await resource({ kind: 'workload', slug: 'gone', host_node_ids: [await tenancy.node({ domainId })] })
        const maintainer = await tenancy.holder(domainId, 'maintainer', `resource:${id}`)
        await tenancy.holder(domainId, 'viewer', `workload:${id}`)
        const answer = await tenancy.call(maintainer, `DELETE ${at}/${id}`)
        expect(answer.status).toBe(204)
        expect([await row(id), await hostsOf(id)]).toEqual([undefined, []])
        expect(await tenancy.tuplesOf(`resource:${id}`)).toEqual([])
        expect(await tenancy.tuplesOf(`workload:${id}`)).toEqual([])
        expect(await tenancy.outbox(answer)).toEqual([
          {
            event: 'ResourceDeleted',
            domain_id: domainId,
            aggregate: `resource:${id}`,
            payload: { resource_id: id, project_id: projectId, kind: 'workload', slug: 'gone' },
          },
        ])
        expect(await tenancy.audit(answer)).toMatchObject({ relation: 'resource.delete', outcome: 'granted', domainId })
        expect((await tenancy.call(maintainer, `GET ${at}/${id}`)).status).toBe(403)
      })

      it('does not find a resource under another Project, and leaves it', async () => {
        const id = await resource()
        const other = await tenancy.project(domainId)
        const answer = await tenancy.call(tenancy.root, `DELETE /v1/projects/${other}/resources/${id}`)
        expect([answer.status, answer.body['code']]).toEqual([404, 'resource_not_found'])
        expect(await row(id)).toBeDefined()
      })
    })
  })
})
