import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { START_MS } from '../support/server/test-backend.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

describe.each(STORES)('Projects on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let tenancy: Tenancy
    let domainId: string
    let admin: string
    beforeAll(async () => {
      tenancy = await startTenancy(store)
      domainId = await tenancy.domain()
      admin = await tenancy.holder(domainId, 'admin', `domain:${domainId}`)
    })
    afterAll(() => tenancy.stop())

    const projectRow = (id: string) =>
      tenancy.db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirst()

    const viewerOf = (projectId: string) => tenancy.holder(domainId, 'viewer', `project:${projectId}`)

    describe('CreateProject', () => {
      it('stores the Project, hangs it off its Domain, announces and audits it', async () => {
        const body = { slug: 'blue', display_name: 'Blue' }
        const answer = await tenancy.call(admin, `POST /v1/domains/${domainId}/projects`, body)
        expect(answer.status).toBe(201)
        const id = String(answer.body['id'])
        const stamp = '2026-03-01T08:00:00.000Z'
        expect(answer.body).toEqual({ id, domain_id: domainId, ...body, created_at: stamp, updated_at: stamp })
        const at = new Date(stamp)
        expect(await projectRow(id)).toEqual({ id, domain_id: domainId, ...body, created_at: at, updated_at: at })
        expect(await tenancy.tuplesOf(`project:${id}`)).toEqual([`domain:${domainId} domain project:${id}`])
        expect(await tenancy.outbox(answer)).toEqual([
          {
            event: 'ProjectCreated',
            domain_id: domainId,
            aggregate: `project:${id}`,
            payload: { project_id: id, slug: 'blue' },
          },
        ])
        expect(await tenancy.audit(answer)).toEqual({
          relation: 'project.create',
          object: `project:${id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId,
        })
      })

      it('lets the administrator of the Domain manage it at once', async () => {
        const id = await tenancy.project(domainId)
        expect((await tenancy.call(admin, `GET /v1/projects/${id}`)).status).toBe(200)
      })

      it('is refused to an operator, and in an unknown Domain to everybody, before anything is read', async () => {
        const operator = await tenancy.holder(domainId, 'operator', `domain:${domainId}`)
        const body = { slug: 'mine', display_name: 'Mine' }
        const denied = await tenancy.call(operator, `POST /v1/domains/${domainId}/projects`, body)
        const unknown = await tenancy.call(tenancy.root, `POST /v1/domains/${NOWHERE}/projects`, body)
        expect([denied.status, unknown.status]).toEqual([403, 403])
        expect(await tenancy.db.selectFrom('projects').select('id').where('slug', '=', 'mine').execute()).toEqual([])
      })

      it('answers domain_not_found where the Domain went away after the gate', async () => {
        const gone = tenancy.ids.next()
        await tenancy.change(({ tuples }) =>
          tuples.createStructural(
            { subject: 'platform:main', relation: 'platform', resource: `domain:${gone}` },
            { domainId: gone, projectId: null },
          ),
        )
        const body = { slug: 'late', display_name: 'Late' }
        const answer = await tenancy.call(tenancy.root, `POST /v1/domains/${gone}/projects`, body)
        expect(answer.status).toBe(404)
        expect(answer.body).toMatchObject({ code: 'domain_not_found' })
        expect(await tenancy.audit(answer)).toMatchObject({ outcome: 'not_found', domainId: gone })
      })
    })

    describe('ListProjects', () => {
      it('shows the Projects of that Domain that the caller may read, by slug, without a role on the Domain', async () => {
        const own = await tenancy.domain()
        const [second, , first] = [
          await tenancy.project(own, 'b'),
          await tenancy.project(own, 'c'),
          await tenancy.project(own, 'a'),
        ]
        const viewer = await tenancy.holder(own, 'viewer', `project:${second}`)
        const lists = async (as: string) => (await tenancy.call(as, `GET /v1/domains/${own}/projects`)).body['items']
        expect(await lists(viewer)).toMatchObject([{ id: second }])
        expect(await lists(tenancy.root)).toMatchObject([{ id: first }, { id: second }, { slug: 'c' }])
        expect(await lists(admin)).toEqual([])
      })

      it('answers an unknown Domain with an empty page', async () => {
        const answer = await tenancy.call(admin, `GET /v1/domains/${NOWHERE}/projects`)
        expect([answer.status, answer.body]).toEqual([200, { items: [], next_cursor: null }])
      })
    })

    describe('PatchProject', () => {
      it('renames at the time of the request, announces and audits it', async () => {
        const id = await tenancy.project(domainId, 'renamed')
        tenancy.clock.nowMs = START_MS + 1_000
        const answer = await tenancy.call(admin, `PATCH /v1/projects/${id}`, { display_name: 'New' })
        tenancy.clock.nowMs = START_MS
        expect(answer.status).toBe(200)
        const changed = { display_name: 'New', updated_at: '2026-03-01T08:00:01.000Z' }
        expect(answer.body).toMatchObject({ slug: 'renamed', created_at: '2026-03-01T08:00:00.000Z', ...changed })
        expect(await projectRow(id)).toMatchObject({ display_name: 'New', updated_at: new Date(START_MS + 1_000) })
        expect(await tenancy.outbox(answer)).toMatchObject([{ event: 'ProjectUpdated', payload: { project_id: id } }])
        expect(await tenancy.audit(answer)).toMatchObject({
          relation: 'project.update',
          object: `project:${id}`,
          domainId,
        })
      })

      it('is refused to a viewer', async () => {
        const id = await tenancy.project(domainId)
        const denied = await tenancy.call(await viewerOf(id), `PATCH /v1/projects/${id}`, { display_name: 'Mine' })
        expect(denied.status).toBe(403)
        expect(await projectRow(id)).toMatchObject({ display_name: 'A Project' })
      })
    })

    describe('DeleteProject', () => {
      it('removes the row and every tuple that names it, announces and audits it', async () => {
        const id = await tenancy.project(domainId, 'gone')
        const viewer = await viewerOf(id)
        const answer = await tenancy.call(admin, `DELETE /v1/projects/${id}`)
        expect(answer.status).toBe(204)
        expect(await projectRow(id)).toBeUndefined()
        expect(await tenancy.tuplesOf(`project:${id}`)).toEqual([])
        expect(await tenancy.outbox(answer)).toEqual([
          {
            event: 'ProjectDeleted',
            domain_id: domainId,
            aggregate: `project:${id}`,
            payload: { project_id: id, slug: 'gone' },
          },
        ])
        expect(await tenancy.audit(answer)).toMatchObject({
          relation: 'project.delete',
          object: `project:${id}`,
          outcome: 'granted',
          domainId,
        })
        expect((await tenancy.call(viewer, `GET /v1/projects/${id}`)).status).toBe(403)
      })

      it.each([
        [
          'resources',
          (id: string) =>
            tenancy.call(tenancy.root, `POST /v1/projects/${id}/resources`, {
              kind: 'vm',
              slug: 'vm',
              display_name: 'VM',
            }),
        ],
        ['nodes', (id: string) => tenancy.node({ domainId, projectId: id })],
        ['join_tokens', (id: string) => tenancy.joinToken({ domainId, projectId: id })],
      ])('refuses while the Project holds %s, and counts what it holds', async (kind, add) => {
        const id = await tenancy.project(domainId)
        await add(id)
        const answer = await tenancy.call(admin, `DELETE /v1/projects/${id}`)
        expect(answer.status).toBe(409)
        const counts = { resources: 0, nodes: 0, join_tokens: 0, mediated_sessions: 0, [kind]: 1 }
        expect(answer.body).toMatchObject({ code: 'project_not_empty', counts })
        expect(await projectRow(id)).toBeDefined()
        expect(await tenancy.tuplesOf(`project:${id}`)).not.toEqual([])
        expect(await tenancy.outbox(answer)).toEqual([])
        expect(await tenancy.audit(answer)).toMatchObject({ outcome: 'invariant_violation', domainId })
      })

      it('removes join tokens that can no longer be used', async () => {
        const id = await tenancy.project(domainId)
        const spent = await tenancy.joinToken({ domainId, projectId: id }, { spent: true })
        expect((await tenancy.call(admin, `DELETE /v1/projects/${id}`)).status).toBe(204)
        expect(await tenancy.db.selectFrom('join_tokens').select('id').where('id', '=', spent).execute()).toEqual([])
      })

      it('never leaves a resource behind that was created at the same moment', async () => {
        const body = { kind: 'network', slug: 'late', display_name: 'Late' }
        for (let round = 0; round < 10; round++) {
          const id = await tenancy.project(domainId)
          const create = () => tenancy.call(admin, `POST /v1/projects/${id}/resources`, body)
          const remove = () => tenancy.call(admin, `DELETE /v1/projects/${id}`)
          const isCreateFirst = round % 2 === 0
          const [one, other] = await Promise.all(isCreateFirst ? [create(), remove()] : [remove(), create()])
          const [creation, deletion] = isCreateFirst ? [one, other] : [other, one]
          expect(deletion.status).toBe(creation.status === 201 ? 409 : 204)
          if (deletion.status === 204) expect(await tenancy.tuplesOf(`project:${id}`)).toEqual([])
        }
      })
    })
  })
})
