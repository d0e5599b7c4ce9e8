import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../support/server/control-plane.ts'
import { START_MS } from '../support/server/test-backend.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const TUPLES = '/v1/authz/relation-tuples'

type Body = Readonly<Record<string, unknown>>

describe.each(STORES)('Relation tuples on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let tenancy: Tenancy
    let domainId: string
    let projectId: string
    let project: string
    /** Holds `admin` on the Project and nothing else. */
    let admin: string
    /** Holds `viewer` on the Project and nothing else. */
    let viewer: string
    beforeAll(async () => {
      tenancy = await startTenancy(store, { surfaces: ['authz', 'relationTuples'] })
      domainId = await tenancy.domain()
      projectId = await tenancy.project(domainId)
      project = `project:${projectId}`
      admin = await tenancy.holder(domainId, 'admin', project)
      viewer = await tenancy.holder(domainId, 'viewer', project)
    })
    afterAll(() => tenancy.stop())

    const create = (body: Body, { as = admin, of = projectId } = {}): Promise<Answer> =>
      tenancy.call(as, `POST ${TUPLES}?project_id=${of}`, body)
    const list = (query = '', as = admin): Promise<Answer> =>
      tenancy.call(as, `GET ${TUPLES}?project_id=${projectId}${query}`)
    const patch = (id: unknown, body: Body, as = admin): Promise<Answer> =>
      tenancy.call(as, `PATCH ${TUPLES}/${String(id)}`, body)
    const remove = (id: unknown, as = admin): Promise<Answer> => tenancy.call(as, `DELETE ${TUPLES}/${String(id)}`)
    const bulk = (tuples: readonly Body[], as = admin): Promise<Answer> =>
      tenancy.call(as, `POST ${TUPLES}/bulk`, { tuples })
    const check = async (subject: string, relation: string, object: string): Promise<unknown> =>
      (await tenancy.call(tenancy.root, 'POST /v1/authz/check', { subject, relation, resource: object })).body[
        'decision'
      ]
    const codeOf = ({ status, body }: Answer) => [status, body['code']]
    const binding = (subject: string, relation = 'viewer', object = project) => ({
      subject,
      relation,
      resource: object,
    })
    const itemsOf = ({ body }: Answer) => body['items'] as readonly Body[]

    async function resource(kind = 'bridge', of = projectId): Promise<string> {
      const body = { kind, slug: `r-${tenancy.ids.next()}`, display_name: 'A resource' }
      const answer = await tenancy.call(tenancy.root, `POST /v1/projects/${of}/resources`, body)
      return String(answer.body['id'])
    }

    /** Every row that a refused call must leave alone. */
    async function stored(): Promise<unknown> {
      const { rows } = await sql`
        select (select json_agg(tuple order by id) from relation_tuples as tuple) as tuples,
               (select count(*) from outbox) as events, (select revision from authz_head) as revision
      `.execute(tenancy.db)
      return rows
    }

    /** Groups, each a member of the next. */
    async function nested(depth: number): Promise<{ readonly outermost: string; readonly innermost: string }> {
      const ids = await Promise.all(Array.from({ length: depth + 1 }, () => tenancy.group(domainId)))
      for (const [inner, id] of ids.entries()) {
        const outer = ids[inner + 1]
        if (outer === undefined) continue
        const answer = await tenancy.call(
          tenancy.root,
          `PUT /v1/domains/${domainId}/groups/${outer}/members/${encodeURIComponent(`group:${id}#member`)}`,
        )
        if (answer.status !== 204) throw new Error(`${inner}: ${JSON.stringify(answer.body)}`)
      }
      return { outermost: ids.at(-1) ?? '', innermost: ids[0] ?? '' }
    }

    describe('CreateRelationTuple', () => {
      it('binds the subject, announces and audits it, and takes effect at once', async () => {
        const subject = await tenancy.principal(domainId)
        expect(await check(subject, 'read', project)).toBe('denied')
        const answer = await create(binding(subject))
        const id = String(answer.body['id'])
        expect(answer.status).toBe(201)
        expect(answer.body).toEqual({ id, ...binding(subject), created_at: new Date(START_MS).toISOString() })
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
        expect(await check(subject, 'read', project)).toBe('allowed')
        expect(await tenancy.outbox(answer)).toEqual([
          {
            event: 'RelationTupleCreated',
            domain_id: domainId,
            aggregate: project,
            payload: { tuple_id: id, project_id: projectId, subject, relation: 'viewer' },
          },
        ])
        expect(await tenancy.audit(answer)).toEqual({
          relation: 'authz.relation_tuple.create',
          object: project,
          outcome: 'granted',
          reason: 'granted',
          domainId,
        })
      })

      it('gives one binding one id for ever, and refuses it while it is live', async () => {
        const subject = await tenancy.principal(domainId)
        const first = await create(binding(subject))
        expect(codeOf(await create(binding(subject)))).toEqual([409, 'tuple_already_exists'])
        expect(codeOf(await create(binding(subject.toUpperCase().replace('USER', 'user'))))).toEqual([
          409,
          'tuple_already_exists',
        ])
        await remove(first.body['id'])
        expect((await create(binding(subject))).body['id']).toBe(first.body['id'])
      })

      it('takes the caveat from caveat_name and of the rest the names alone', async () => {
        const subject = await tenancy.principal(domainId)
        const caveat_context = { caveat_name: 'within_hours', now: 'a value', business_hours: { from: 'a value' } }
        const answer = await create({ ...binding(subject), caveat_context })
        const kept = { caveat_name: 'within_hours', now: null, business_hours: null }
        expect(answer.body['caveat_context']).toEqual(kept)
        expect(itemsOf(await list('&limit=200')).find(({ id }) => id === answer.body['id'])).toEqual(answer.body)
        expect(JSON.stringify(await stored())).not.toContain('a value')
        expect((await create(binding(subject))).status).toBe(201)
      })

      it.each([
        ['resource', 'bridge'],
        ['network', 'network'],
        ['workload', 'workload'],
      ])('binds to a %s of the Project', async (type, kind) => {
        const subject = await tenancy.principal(domainId)
        const object = `${type}:${await resource(kind)}`
        expect((await create(binding(subject, 'maintainer', object))).status).toBe(201)
        expect(await check(subject, 'manage', object)).toBe('allowed')
        expect(await check(subject, 'read', project)).toBe('denied')
      })

      it.each([
        ['the members of a group', async () => `group:${await tenancy.group(domainId)}#member`],
        ['everybody', async () => 'user:*'],
        ['a service identity', () => tenancy.principal(domainId, 'service-identity')],
        ['a platform principal of another Domain', async () => tenancy.root],
      ])('binds %s', async (_what, of) => {
        expect((await create(binding(await of(), 'viewer', `resource:${await resource()}`))).status).toBe(201)
      })

      it('reaches members through groups nested 40 deep', async () => {
        const { outermost, innermost } = await nested(40)
        const member = await tenancy.principal(domainId)
        await tenancy.call(tenancy.root, `PUT /v1/domains/${domainId}/groups/${innermost}/members/${member}`)
        const object = `resource:${await resource()}`
        expect((await create(binding(`group:${outermost}#member`, 'viewer', object))).status).toBe(201)
        expect(await check(member, 'read', object)).toBe('allowed')
      })

      it('asks for manage on the Project, whether it exists or not', async () => {
        const subject = await tenancy.principal(domainId)
        for (const of of [projectId, NOWHERE]) {
          const refused = await create(binding(subject), { as: viewer, of })
          expect([refused.status, refused.body['reason']]).toEqual([403, 'insufficient_relation'])
          expect(refused.body['missing_relation']).toEqual({
            object: `project:${of}`,
            relation: 'manage',
            subject: viewer,
          })
          expect(await tenancy.audit(refused)).toMatchObject({ outcome: 'permission_denied' })
        }
      })
    })

    describe('what cannot be written', () => {
      let known: string
      let foreigner: string
      let foreignResource: string
      let neighbour: string
      beforeAll(async () => {
        known = await tenancy.principal(domainId)
        const abroad = await tenancy.domain()
        foreigner = await tenancy.principal(abroad)
        foreignResource = `resource:${await resource('bridge', await tenancy.project(abroad))}`
        neighbour = `resource:${await resource('bridge', await tenancy.project(domainId))}`
      })

      /** What is wrong, the body, its answer, and the member that the answer points at. */
      const WRONG: readonly (readonly [string, () => Body, number, string, string])[] = [
        ['an empty subject', () => binding(''), 400, 'invalid_triple', '/subject'],
        ['no relation', () => ({ subject: known, resource: project }), 400, 'invalid_triple', '/relation'],
        ['an empty resource', () => binding(known, 'viewer', ''), 400, 'invalid_triple', '/resource'],
        ['a malformed subject', () => binding('ann'), 400, 'invalid_triple', '/subject'],
        ['a malformed resource', () => binding(known, 'viewer', 'project'), 400, 'invalid_triple', '/resource'],
        [
          'a set as the resource',
          () => binding(known, 'viewer', `${project}#viewer`),
          400,
          'invalid_triple',
          '/resource',
        ],
        ['everything as the resource', () => binding(known, 'viewer', 'project:*'), 400, 'invalid_triple', '/resource'],
        ['an unknown subject type', () => binding(`robot:${NOWHERE}`), 400, 'invalid_triple', '/subject'],
        [
          'an unknown resource type',
          () => binding(known, 'viewer', `shed:${NOWHERE}`),
          400,
          'invalid_triple',
          '/resource',
        ],
        ['an unknown relation', () => binding(known, 'owner'), 400, 'invalid_triple', '/relation'],
        ['a permission', () => binding(known, 'manage'), 400, 'invalid_triple', '/relation'],
        ['a parent edge', () => binding(`domain:${domainId}`, 'domain'), 400, 'invalid_triple', '/relation'],
        ['a subject type that may not stand there', () => binding(project), 400, 'invalid_triple', '/subject'],
        ['a bare group', () => binding(`group:${NOWHERE}`), 400, 'invalid_triple', '/subject'],
        ['everybody as an administrator', () => binding('user:*', 'admin'), 400, 'invalid_triple', '/subject'],
        ['a subject that does not exist', () => binding(`user:${NOWHERE}`), 400, 'invalid_triple', '/subject'],
        ['a subject of another Domain', () => binding(foreigner), 400, 'invalid_triple', '/subject'],
        ['an unknown caveat', () => caveated('whenever'), 400, 'invalid_triple', '/caveat_context'],
        ['a caveat that is no name', () => caveated(7), 400, 'invalid_triple', '/caveat_context'],
        ['an unnamed caveat', () => caveated(''), 400, 'invalid_triple', '/caveat_context'],
        ['a resource that does not exist', () => on(`resource:${NOWHERE}`), 400, 'resource_not_in_project', ''],
        ["another tenant's resource", () => on(foreignResource), 400, 'resource_not_in_project', ''],
        ['a resource of another Project', () => on(neighbour), 400, 'resource_not_in_project', ''],
        ['another Project', () => on(`project:${NOWHERE}`), 400, 'resource_not_in_project', ''],
        ['the Domain of the Project', () => on(`domain:${domainId}`), 400, 'resource_not_in_project', ''],
        ['the platform', () => on('platform:main'), 400, 'resource_not_in_project', ''],
        ['an unknown member', () => ({ ...binding(known), more: 1 }), 400, 'invalid_body', ''],
        [
          'a body beyond 8 KiB',
          () => ({ ...binding(known), caveat_context: { now: 'x'.repeat(8192) } }),
          413,
          'request_body_too_large',
          '',
        ],
      ]

      const caveated = (caveat_name: unknown): Body => ({ ...binding(known), caveat_context: { caveat_name } })
      const on = (object: string): Body => binding(known, 'viewer', object)
      const pointerOf = ({ body }: Answer) =>
        (body['errors'] as readonly { pointer: string }[] | undefined)?.[0]?.pointer

      it.each(WRONG)('refuses to create %s, and changes nothing', async (_what, body, status, code, pointer) => {
        const before = await stored()
        const refused = await create(body())
        expect(codeOf(refused)).toEqual([status, code])
        if (pointer !== '') expect(pointerOf(refused)).toBe(pointer)
        expect(await stored()).toEqual(before)
      })

      it.each(WRONG.filter(([, , status, code]) => status === 400 && code !== 'resource_not_in_project'))(
        'refuses to put %s in the place of a tuple, which stays',
        async (_what, body, status, code) => {
          const { id } = (await create(binding(await tenancy.principal(domainId)))).body
          const before = await stored()
          expect(codeOf(await patch(id, body()))).toEqual([status, code])
          expect(await stored()).toEqual(before)
        },
      )

      it.each(WRONG.filter(([, , status, code]) => status === 400 && code !== 'invalid_body'))(
        'refuses a bulk create with %s among good rows, and creates none of them',
        async (_what, body, status, code) => {
          const good = binding(await tenancy.principal(domainId))
          const before = await stored()
          const refused = await bulk([good, body()].map((row) => ({ project_id: projectId, ...row })))
          expect(codeOf(refused)).toEqual([status, code])
          expect(pointerOf(refused)).toMatch(/^\/tuples\/1/)
          expect(await stored()).toEqual(before)
        },
      )
    })

    describe('ListRelationTuples', () => {
      it('shows the tuples of the Project, parent edges left out', async () => {
        const own = await tenancy.project(domainId)
        const lister = await tenancy.holder(domainId, 'admin', `domain:${domainId}`)
        const subjects = await Promise.all([1, 2, 3].map(() => tenancy.principal(domainId)))
        for (const subject of subjects)
          await create(binding(subject, 'viewer', `project:${own}`), { as: lister, of: own })
        await resource('bridge', own)
        const listed = itemsOf(await tenancy.call(lister, `GET ${TUPLES}?project_id=${own}`))
        expect(listed.map(({ subject }) => subject).toSorted()).toEqual(subjects.toSorted())
      })

      it('leaves out rows whose resource the caller may not read, a short page not being the last', async () => {
        const own = await tenancy.project(domainId)
        const kept = `resource:${await resource('bridge', own)}`
        const subject = await tenancy.principal(domainId)
        const made = await create(binding(subject, 'viewer', kept), { as: tenancy.root, of: own })
        expect(made.status).toBe(201)
        const outsider = await tenancy.call(viewer, `GET ${TUPLES}?project_id=${own}`)
        expect(outsider.status).toBe(403)
        const answer = await tenancy.call(tenancy.root, `GET ${TUPLES}?project_id=${own}`)
        expect(itemsOf(answer)).toEqual([made.body])
      })

      it.each([
        ['no Project', `GET ${TUPLES}`, 'invalid_project_id'],
        ['a malformed Project', `GET ${TUPLES}?project_id=main`, 'invalid_project_id'],
        ['the zero Project', `GET ${TUPLES}?project_id=00000000-0000-0000-0000-000000000000`, 'invalid_project_id'],
        ['a limit of 0', `GET ${TUPLES}?project_id=${NOWHERE}&limit=0`, 'invalid_limit'],
        ['a limit of 201', `GET ${TUPLES}?project_id=${NOWHERE}&limit=201`, 'invalid_limit'],
        ['a made-up cursor', `GET ${TUPLES}?project_id=${NOWHERE}&cursor=abc`, 'invalid_cursor'],
        ['no Project to create in', `POST ${TUPLES}`, 'invalid_project_id'],
        ['a malformed tuple to delete', `DELETE ${TUPLES}/main`, 'invalid_tuple_id'],
        ['the zero tuple', `PATCH ${TUPLES}/00000000-0000-0000-0000-000000000000`, 'invalid_tuple_id'],
      ])('refuses %s', async (_what, operation, code) => {
        const body = operation.startsWith('POST') || operation.startsWith('PATCH') ? binding('user:*') : undefined
        expect(codeOf(await tenancy.call(admin, operation, body))).toEqual([400, code])
      })
    })

    describe('PatchRelationTuple', () => {
      it('deletes the old tuple and writes the new one, with one audit row', async () => {
        const subject = await tenancy.principal(domainId)
        const old = await create(binding(subject))
        const answer = await patch(old.body['id'], binding(subject, 'deployer'))
        expect(answer.status).toBe(200)
        expect(answer.body).toMatchObject(binding(subject, 'deployer'))
        expect(answer.body['id']).not.toBe(old.body['id'])
        expect((await tenancy.outbox(answer)).map(({ event }) => event)).toEqual([
          'RelationTupleDeleted',
          'RelationTupleCreated',
        ])
        expect(await tenancy.audit(answer)).toMatchObject({
          relation: 'authz.relation_tuple.update',
          outcome: 'granted',
        })
        expect(await check(subject, 'deploy', project)).toBe('allowed')
        expect(codeOf(await patch(old.body['id'], binding(subject)))).toEqual([404, 'tuple_not_found'])
      })

      it('writes a tuple anew in its own place', async () => {
        const old = await create(binding(await tenancy.principal(domainId)))
        const { subject } = old.body
        const answer = await patch(old.body['id'], binding(String(subject)))
        expect([answer.status, answer.body['id']]).toEqual([200, old.body['id']])
      })

      it('refuses another live tuple before anything is deleted', async () => {
        const subject = await tenancy.principal(domainId)
        const old = await create(binding(subject))
        await create(binding(subject, 'deployer'))
        const before = await stored()
        expect(codeOf(await patch(old.body['id'], binding(subject, 'deployer')))).toEqual([409, 'tuple_already_exists'])
        expect(await stored()).toEqual(before)
      })

      it('asks for manage on the old resource, after looking for the tuple', async () => {
        const old = await create(binding(await tenancy.principal(domainId)))
        const refused = await patch(old.body['id'], binding(viewer), viewer)
        expect(refused.status).toBe(403)
        expect(await tenancy.audit(refused)).toMatchObject({
          relation: 'authz.relation_tuple.update',
          outcome: 'permission_denied',
        })
        expect(codeOf(await patch(NOWHERE, binding(viewer), viewer))).toEqual([404, 'tuple_not_found'])
      })

      it('asks for manage on the new resource too, the same of one that does not exist', async () => {
        const [mine, theirs] = [`resource:${await resource()}`, `resource:${await resource()}`]
        const keeper = await tenancy.principal(domainId)
        await create(binding(keeper, 'maintainer', mine))
        const old = await create(binding(await tenancy.principal(domainId), 'viewer', mine))
        const before = await stored()
        for (const object of [theirs, `resource:${NOWHERE}`]) {
          const refused = await patch(old.body['id'], binding(keeper, 'viewer', object), keeper)
          expect([refused.status, refused.body['missing_relation']]).toEqual([
            403,
            { object, relation: 'manage', subject: keeper },
          ])
        }
        expect(await stored()).toEqual(before)
      })

      it('keeps to the Project of the old tuple', async () => {
        const elsewhere = `resource:${await resource('bridge', await tenancy.project(domainId))}`
        const old = await create(binding(await tenancy.principal(domainId)))
        const answer = await patch(old.body['id'], binding(viewer, 'viewer', elsewhere), tenancy.root)
        expect(codeOf(answer)).toEqual([400, 'resource_not_in_project'])
      })

      it('answers a failure between the legs with 500, the old binding gone', async () => {
        const [subject, refusedByStore] = [await tenancy.principal(domainId), await tenancy.principal(domainId)]
        const old = await create(binding(subject))
        await sql`
          alter table relation_tuples add constraint refused_check check (subject_id <> ${sql.lit(refusedByStore.slice(5))})
        `.execute(tenancy.db)
        const answer = await patch(old.body['id'], binding(refusedByStore))
        await sql`alter table relation_tuples drop constraint refused_check`.execute(tenancy.db)
        expect(codeOf(answer)).toEqual([500, 'internal'])
        expect(await tenancy.audit(answer)).toMatchObject({
          relation: 'authz.relation_tuple.update',
          outcome: 'internal_error',
        })
        expect(await check(subject, 'read', project)).toBe('denied')
        expect(codeOf(await patch(old.body['id'], binding(refusedByStore)))).toEqual([404, 'tuple_not_found'])
        expect((await create(binding(refusedByStore))).status).toBe(201)
      })
    })

    describe('DeleteRelationTuple', () => {
      it('takes the binding back, at once, and a second time finds nothing', async () => {
        const subject = await tenancy.principal(domainId)
        const { id } = (await create(binding(subject))).body
        const answer = await remove(id)
        expect(answer.status).toBe(204)
        expect(await check(subject, 'read', project)).toBe('denied')
        expect(await tenancy.audit(answer)).toMatchObject({
          relation: 'authz.relation_tuple.delete',
          object: project,
          outcome: 'granted',
        })
        const again = await remove(id)
        expect(codeOf(again)).toEqual([404, 'tuple_not_found'])
        expect(await tenancy.audit(again)).toMatchObject({ outcome: 'not_found' })
      })

      it('lets one of several callers delete it', async () => {
        const { id } = (await create(binding(await tenancy.principal(domainId)))).body
        const answers = await Promise.all([1, 2, 3, 4].map(() => remove(id)))
        expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 404, 404, 404])
      })

      it('asks for manage on the resource', async () => {
        const { id } = (await create(binding(await tenancy.principal(domainId)))).body
        expect((await remove(id, viewer)).status).toBe(403)
      })

      it('finds neither parent edges nor roles that are granted elsewhere', async () => {
        const rows = await tenancy.db
          .selectFrom('relation_tuples')
          .select('id')
          .where('project_id', 'is', null)
          .execute()
        const edges = await tenancy.db
          .selectFrom('relation_tuples')
          .select('id')
          .where('structural', '=', true)
          .execute()
        expect([rows.length > 3, edges.length > 3]).toEqual([true, true])
        for (const { id } of [...rows.slice(0, 5), ...edges.slice(0, 5)]) {
          expect(codeOf(await remove(id, tenancy.root))).toEqual([404, 'tuple_not_found'])
        }
      })
    })

    describe('BulkCreateRelationTuples', () => {
      const rowsFor = (subjects: readonly string[], relation = 'viewer') =>
        subjects.map((subject) => ({ project_id: projectId, ...binding(subject, relation) }))
      const people = (count: number) => Promise.all(Array.from({ length: count }, () => tenancy.principal(domainId)))

      it('creates every row in one revision and answers them in their order', async () => {
        const subjects = await people(3)
        const answer = await bulk(rowsFor(subjects))
        expect(answer.status).toBe(201)
        expect(itemsOf(answer).map(({ subject }) => subject)).toEqual(subjects)
        const ids = itemsOf(answer).map(({ id }) => String(id))
        const rows = await tenancy.db.selectFrom('relation_tuples').select('revision').where('id', 'in', ids).execute()
        expect([rows.length, new Set(rows.map(({ revision }) => revision)).size]).toEqual([3, 1])
        expect(await tenancy.audit(answer)).toMatchObject({
          relation: 'authz.relation_tuple.bulk_create',
          object: project,
          outcome: 'granted',
        })
        expect(await tenancy.outbox(answer)).toHaveLength(3)
      })

      it('takes a thousand rows, and no more', async () => {
        const subjects = await people(2)
        const objects = await Promise.all(Array.from({ length: 4 }, () => resource()))
        const rows = subjects.flatMap((subject) =>
          objects.map((id) => ({ project_id: projectId, ...binding(subject, 'viewer', `resource:${id}`) })),
        )
        const many = Array.from({ length: 1001 }, (_, index) => rows[index % rows.length] ?? {})
        expect(codeOf(await bulk(many))).toEqual([400, 'invalid_body'])
        const refused = await bulk(many.slice(0, 1000))
        expect([...codeOf(refused), refused.body['error_count']]).toEqual([409, 'tuple_already_exists', 992])
        expect((await bulk(rows)).status).toBe(201)
      })

      it('lists the first 20 wrong rows with their numbers, the code being that of the first', async () => {
        const [good = ''] = await people(1)
        const rows = rowsFor([good, ...Array.from({ length: 25 }, () => `user:${NOWHERE}`)])
        const before = await stored()
        const refused = await bulk([...rows, { ...rows[0], resource: `resource:${NOWHERE}` }])
        expect([...codeOf(refused), refused.body['error_count']]).toEqual([400, 'invalid_triple', 26])
        const errors = refused.body['errors'] as readonly Body[]
        expect(errors).toHaveLength(20)
        expect(errors[0]).toEqual({
          row: 2,
          pointer: '/tuples/1/subject',
          code: 'invalid_triple',
          detail: 'must exist, and belong to the Domain unless it holds a role on the platform',
        })
        expect(errors.at(-1)).toMatchObject({ row: 21 })
        expect(await stored()).toEqual(before)
      })

      it('refuses the same row twice, and one that is live', async () => {
        const [one = '', two = ''] = await people(2)
        expect((await bulk(rowsFor([one]))).status).toBe(201)
        const refused = await bulk(rowsFor([two, one, two]))
        expect(codeOf(refused)).toEqual([409, 'tuple_already_exists'])
        expect((refused.body['errors'] as readonly Body[]).map(({ row }) => row)).toEqual([2, 3])
      })

      it('gates every row on its own Project, before it looks at any', async () => {
        const rows = rowsFor([`user:${NOWHERE}`])
        const refused = await bulk([...rows, { ...rows[0], project_id: NOWHERE }])
        expect([refused.status, refused.body['missing_relation']]).toEqual([
          403,
          { object: `project:${NOWHERE}`, relation: 'manage', subject: admin },
        ])
      })
    })
  })
})
