import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Answer } from '../support/server/control-plane.ts'
import { START_MS } from '../support/server/test-backend.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

describe.each(STORES)('Domains on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let tenancy: Tenancy
    beforeAll(async () => {
      tenancy = await startTenancy(store)
    })
    afterAll(() => tenancy.stop())

    const domainRow = (id: string) =>
      tenancy.db.selectFrom('domains').selectAll().where('id', '=', id).executeTakeFirst()

    /** Revisions at which caches were told to reread a Domain's settings. */
    const settingsChanges = async (id: string) => {
      const rows = await tenancy.db
        .selectFrom('authz_changes')
        .selectAll()
        .where('kind', '=', 'domain_changed')
        .execute()
      return rows.filter(({ payload }) => JSON.stringify(payload).includes(id)).length
    }

    describe('CreateDomain', () => {
      it('stores the Domain with its defaults, hangs it off the platform, announces and audits it', async () => {
        const answer = await tenancy.call(tenancy.root, 'POST /v1/domains', { slug: 'acme', display_name: 'Acme' })
        expect(answer.status).toBe(201)
        const id = String(answer.body['id'])
        const stamp = '2026-03-01T08:00:00.000Z'
        expect(answer.body).toEqual({
          id,
          slug: 'acme',
          display_name: 'Acme',
          mesh_cidr: '100.64.0.0/10',
          endpoint_ttl: 300,
          audit_retention_days: 400,
          trusted_networks: [],
          business_hours: null,
          strong_acr: [],
          peer_visibility: 'all',
          routed_networks: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
          step_up: {},
          created_at: stamp,
          updated_at: stamp,
        })
        expect(await domainRow(id)).toMatchObject({ slug: 'acme', created_at: new Date(stamp), business_hours: null })
        expect(await tenancy.tuplesOf(`domain:${id}`)).toEqual([`platform:main platform domain:${id}`])
        expect(await tenancy.outbox(answer)).toEqual([
          {
            event: 'DomainCreated',
            domain_id: id,
            aggregate: `domain:${id}`,
            payload: { domain_id: id, slug: 'acme' },
          },
        ])
        expect(await tenancy.audit(answer)).toEqual({
          relation: 'domain.create',
          object: `domain:${id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId: null,
        })
      })

      it('keeps every setting as it was normalised', async () => {
        const answer = await tenancy.call(tenancy.root, 'POST /v1/domains', {
          slug: 'settled',
          display_name: 'Settled',
          mesh_cidr: '100.70.3.9/16',
          endpoint_ttl: 30,
          audit_retention_days: 3650,
          trusted_networks: ['192.0.2.9/24', '2001:DB8::1/32'],
          business_hours: { time_zone: 'europe/berlin', days: [5, 1, 5], from: '22:00', to: '06:00' },
          strong_acr: ['urn:acr:hardware'],
        })
        const settings = {
          mesh_cidr: '100.70.0.0/16',
          endpoint_ttl: 30,
          audit_retention_days: 3650,
          trusted_networks: ['192.0.2.0/24', '2001:db8::/32'],
          business_hours: { time_zone: 'Europe/Berlin', days: [1, 5], from: '22:00', to: '06:00' },
          strong_acr: ['urn:acr:hardware'],
        }
        expect(answer.body).toMatchObject(settings)
        const read = await tenancy.call(tenancy.root, `GET /v1/domains/${String(answer.body['id'])}`)
        expect(read.body).toEqual(answer.body)
      })

      it.each([
        ['/mesh_cidr', { mesh_cidr: '10.0.0.0/8' }],
        ['/mesh_cidr', { mesh_cidr: '100.64.0.0/31' }],
        ['/trusted_networks/0', { trusted_networks: ['010.0.0.0/8'] }],
        [
          '/business_hours/time_zone',
          { business_hours: { time_zone: 'Mars/Base', days: [1], from: '08:00', to: '09:00' } },
        ],
        ['/business_hours/to', { business_hours: { time_zone: 'UTC', days: [1], from: '08:00', to: '08:00' } }],
      ])('refuses a wrong %s and stores nothing', async (pointer, members) => {
        const body = { slug: 'wrong', display_name: 'Wrong', ...members }
        const answer = await tenancy.call(tenancy.root, 'POST /v1/domains', body)
        expect(answer.status).toBe(400)
        expect(answer.body).toMatchObject({ code: 'invalid_body', errors: [{ pointer }] })
        expect(await tenancy.db.selectFrom('domains').select('id').where('slug', '=', 'wrong').execute()).toEqual([])
      })

      it('is refused to the administrator of another Domain', async () => {
        const domainId = await tenancy.domain()
        const admin = await tenancy.holder(domainId, 'admin', `domain:${domainId}`)
        const answer = await tenancy.call(admin, 'POST /v1/domains', { slug: 'mine', display_name: 'Mine' })
        expect(answer.status).toBe(403)
        expect(answer.body).toMatchObject({ code: 'permission_denied', reason: 'insufficient_relation' })
        expect(await tenancy.audit(answer)).toMatchObject({ relation: 'domain.create', outcome: 'permission_denied' })
      })
    })

    describe('ListDomains', () => {
      it('shows only the Domains that the caller may read, by slug', async () => {
        const [second, hidden, first] = [
          await tenancy.domain('list-b'),
          await tenancy.domain('list-c'),
          await tenancy.domain('list-a'),
        ]
        const viewer = await tenancy.holder(second, 'viewer', `domain:${second}`)
        await tenancy.change(({ tuples }) =>
          tuples.create(
            { subject: viewer, relation: 'auditor', resource: `domain:${first}` },
            { domainId: first, projectId: null },
          ),
        )
        const answer = await tenancy.call(viewer, 'GET /v1/domains')
        expect(answer.body).toMatchObject({ items: [{ id: first }, { id: second }], next_cursor: null })
        expect(JSON.stringify(answer.body)).not.toContain(hidden)
      })

      it('goes on past rows that the caller may not read', async () => {
        for (const slug of ['page-1', 'page-2', 'page-3', 'page-4']) await tenancy.domain(slug)
        const last = await tenancy.domain('page-5')
        const viewer = await tenancy.holder(last, 'viewer', `domain:${last}`)
        const seen: unknown[] = []
        let cursor: unknown = ''
        let pages = 0
        while (typeof cursor === 'string' && pages < 50) {
          const query: string = cursor === '' ? '' : `&cursor=${cursor}`
          const { body } = await tenancy.call(viewer, `GET /v1/domains?limit=2${query}`)
          seen.push(...(body['items'] as unknown[]))
          cursor = body['next_cursor']
          pages += 1
        }
        expect(seen).toMatchObject([{ slug: 'page-5' }])
        expect(pages).toBeGreaterThan(2)
      })
    })

    describe('GetDomain', () => {
      it('asks for the relation before it looks: an unknown Domain and a forbidden one look alike', async () => {
        const [own, other] = [await tenancy.domain(), await tenancy.domain()]
        const viewer = await tenancy.holder(own, 'viewer', `domain:${own}`)
        const forbidden = await tenancy.call(viewer, `GET /v1/domains/${other}`)
        const unknown = await tenancy.call(viewer, `GET /v1/domains/${NOWHERE}`)
        expect([forbidden.status, unknown.status]).toEqual([403, 403])
        const blind = (answer: typeof unknown, id: string) =>
          JSON.stringify({ ...answer.body, correlation_id: '' }).replaceAll(id, 'ID')
        expect(blind(forbidden, other)).toBe(blind(unknown, NOWHERE))
      })

      it('audits who read which Domain', async () => {
        const id = await tenancy.domain()
        const answer = await tenancy.call(tenancy.root, `GET /v1/domains/${id}`)
        expect(answer.status).toBe(200)
        const row = { relation: 'domain.read', object: `domain:${id}`, outcome: 'granted', domainId: id }
        expect(await tenancy.audit(answer)).toMatchObject(row)
      })
    })

    describe('GetDomainUsage', () => {
      const usageOf = (caller: string, id: string) => tenancy.call(caller, `GET /v1/domains/${id}/usage`)

      it('counts nodes, Projects and API tokens of the Domain, and nothing of another one', async () => {
        const [id, other] = [await tenancy.domain('counted'), await tenancy.domain()]
        const [owner, stranger] = [await tenancy.principal(id), await tenancy.principal(other)]
        const projectId = await tenancy.project(id)
        await tenancy.node({ domainId: id })
        await tenancy.node({ domainId: id, projectId })
        for (let count = 0; count < 3; count++) await tenancy.apiToken(id, owner)
        await tenancy.project(other)
        await tenancy.node({ domainId: other })
        await tenancy.apiToken(other, stranger)
        const answer = await usageOf(tenancy.root, id)
        expect(answer.status).toBe(200)
        expect(answer.body).toEqual({ id, slug: 'counted', nodes: 2, projects: 1, api_tokens: 3 })
      })

      it('answers zeros for a Domain that holds nothing', async () => {
        const id = await tenancy.domain('bare')
        const answer = await usageOf(tenancy.root, id)
        expect(answer.body).toEqual({ id, slug: 'bare', nodes: 0, projects: 0, api_tokens: 0 })
      })

      it.each([
        ['does not count a revoked API token', { revoked: true }, 0],
        ['does not count an API token that expires at this moment', { expired: true }, 0],
        ['does not count a hidden API token', { hidden: true }, 0],
        ['counts an API token that was rotated as long as it works', { rotated: true }, 1],
      ] as const)('%s', async (_, members, count) => {
        const id = await tenancy.domain()
        await tenancy.apiToken(id, await tenancy.principal(id, 'service-identity'), members)
        expect((await usageOf(tenancy.root, id)).body).toMatchObject({ api_tokens: count })
      })

      it('asks for the relation before it looks: an unknown Domain and a forbidden one look alike', async () => {
        const [own, other] = [await tenancy.domain(), await tenancy.domain()]
        const viewer = await tenancy.holder(own, 'viewer', `domain:${own}`)
        expect((await usageOf(viewer, own)).status).toBe(200)
        const [forbidden, unknown] = [await usageOf(viewer, other), await usageOf(viewer, NOWHERE)]
        expect([forbidden.status, unknown.status]).toEqual([403, 403])
        const blind = (answer: typeof unknown, id: string) =>
          JSON.stringify({ ...answer.body, correlation_id: '' }).replaceAll(id, 'ID')
        expect(blind(forbidden, other)).toBe(blind(unknown, NOWHERE))
      })

      it('audits who counted which Domain', async () => {
        const id = await tenancy.domain()
        const answer = await usageOf(tenancy.root, id)
        const row = { relation: 'domain_usage.read', object: `domain:${id}`, outcome: 'granted', domainId: id }
        expect(await tenancy.audit(answer)).toMatchObject(row)
      })
    })

    describe('PatchDomain', () => {
      it('changes what is named, at the time of the request, and announces it', async () => {
        const id = await tenancy.domain('patched')
        tenancy.clock.nowMs = START_MS + 60_000
        const answer = await tenancy.call(tenancy.root, `PATCH /v1/domains/${id}`, { endpoint_ttl: 60 })
        tenancy.clock.nowMs = START_MS
        expect(answer.status).toBe(200)
        expect(answer.body).toMatchObject({
          slug: 'patched',
          display_name: 'A Domain',
          endpoint_ttl: 60,
          created_at: '2026-03-01T08:00:00.000Z',
          updated_at: '2026-03-01T08:01:00.000Z',
        })
        expect(await domainRow(id)).toMatchObject({ endpoint_ttl_seconds: 60, display_name: 'A Domain' })
        expect(await tenancy.outbox(answer)).toMatchObject([{ event: 'DomainUpdated', payload: { slug: 'patched' } }])
        expect(await tenancy.audit(answer)).toMatchObject({
          relation: 'domain.update',
          outcome: 'granted',
          domainId: id,
        })
      })

      it('makes all nodes see other peers, with another visibility alone', async () => {
        const id = await tenancy.domain()
        const peers = () =>
          tenancy.db.selectFrom('domain_peers').selectAll().where('domain_id', '=', id).executeTakeFirst()
        const reachable = { peer_visibility: 'reachable' }
        const first = await tenancy.call(tenancy.root, `PATCH /v1/domains/${id}`, reachable)
        expect(first.body).toMatchObject(reachable)
        expect(await peers()).toMatchObject({ revision: '1', whole_revision: '1' })
        expect(await tenancy.outbox(first)).toMatchObject([
          { event: 'DomainUpdated' },
          { event: 'peer_visibility_changed', domain_id: id, aggregate: `domain:${id}`, payload: { revision: 1 } },
        ])
        const again = await tenancy.call(tenancy.root, `PATCH /v1/domains/${id}`, { ...reachable, endpoint_ttl: 60 })
        expect(await peers()).toMatchObject({ revision: '1' })
        expect(await tenancy.outbox(again)).toMatchObject([{ event: 'DomainUpdated' }])
      })

      it.each([
        ['trusted_networks', ['10.0.0.0/8']],
        ['business_hours', { time_zone: 'UTC', days: [1], from: '08:00', to: '09:00' }],
        ['strong_acr', ['urn:acr:hardware']],
      ])('tells caches of a change of %s', async (member, value) => {
        const id = await tenancy.domain()
        const before = await settingsChanges(id)
        await tenancy.call(tenancy.root, `PATCH /v1/domains/${id}`, { [member]: value })
        expect(await settingsChanges(id)).toBe(before + 1)
      })

      it('leaves caches alone where caveats read nothing new', async () => {
        const id = await tenancy.domain()
        const before = await settingsChanges(id)
        await tenancy.call(tenancy.root, `PATCH /v1/domains/${id}`, { display_name: 'Other', endpoint_ttl: 31 })
        expect(await settingsChanges(id)).toBe(before)
      })

      it('has a role under a caveat hold or not by the settings of the moment', async () => {
        const id = await tenancy.domain()
        const caller = await tenancy.principal(id)
        await tenancy.change(({ tuples }) =>
          tuples.create(
            {
              subject: caller,
              relation: 'viewer',
              resource: `domain:${id}`,
              caveatName: 'from_network',
              caveatFields: [],
            },
            { domainId: id, projectId: null },
          ),
        )
        const statuses: number[] = []
        for (const networks of [['192.0.2.0/24'], ['127.0.0.0/8'], []]) {
          await tenancy.call(tenancy.root, `PATCH /v1/domains/${id}`, { trusted_networks: networks })
          statuses.push((await tenancy.call(caller, `GET /v1/domains/${id}`)).status)
        }
        expect(statuses).toEqual([403, 200, 403])
      })

      it.each([
        ['invalid_body', { trusted_networks: ['office'] }],
        ['invalid_body', { slug: 'renamed' }],
      ])('answers %s to %j and changes nothing', async (code, patch) => {
        const id = await tenancy.domain()
        const before = await domainRow(id)
        const answer = await tenancy.call(tenancy.root, `PATCH /v1/domains/${id}`, patch)
        expect(answer.status).toBe(400)
        expect(answer.body).toMatchObject({ code })
        expect(await domainRow(id)).toEqual(before)
        expect(await tenancy.outbox(answer)).toEqual([])
      })

      it('is refused to an operator of the Domain', async () => {
        const id = await tenancy.domain()
        const operator = await tenancy.holder(id, 'operator', `domain:${id}`)
        const answer = await tenancy.call(operator, `PATCH /v1/domains/${id}`, { display_name: 'Mine' })
        expect(answer.status).toBe(403)
        expect(await domainRow(id)).toMatchObject({ display_name: 'A Domain' })
      })
    })

    describe('DeleteDomain', () => {
      it('removes the row, every tuple that names it, and announces and audits it', async () => {
        const id = await tenancy.domain('gone')
        const visitor = await tenancy.principal(tenancy.home)
        await tenancy.change(({ tuples }) =>
          tuples.create(
            { subject: visitor, relation: 'viewer', resource: `domain:${id}` },
            { domainId: id, projectId: null },
          ),
        )
        expect((await tenancy.call(visitor, `GET /v1/domains/${id}`)).status).toBe(200)
        const answer = await tenancy.call(tenancy.root, `DELETE /v1/domains/${id}`)
        expect([answer.status, answer.body]).toEqual([204, {}])
        expect(await domainRow(id)).toBeUndefined()
        expect(await tenancy.tuplesOf(`domain:${id}`)).toEqual([])
        expect(await tenancy.outbox(answer)).toEqual([
          {
            event: 'DomainDeleted',
            domain_id: id,
            aggregate: `domain:${id}`,
            payload: { domain_id: id, slug: 'gone' },
          },
        ])
        expect(await tenancy.audit(answer)).toEqual({
          relation: 'domain.delete',
          object: `domain:${id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId: null,
        })
        expect((await tenancy.call(visitor, `GET /v1/domains/${id}`)).status).toBe(403)
      })

      it.each([
        ['projects', (id: string) => tenancy.project(id)],
        ['nodes', (id: string) => tenancy.node({ domainId: id })],
        ['principals', (id: string) => tenancy.principal(id)],
        ['groups', (id: string) => tenancy.group(id)],
        ['join_tokens', (id: string) => tenancy.joinToken({ domainId: id })],
        ['idp_bindings', (id: string) => addBinding(id)],
        ['trust_bundles', (id: string) => addTrustBundle(id)],
        ['invitations', (id: string) => addInvitation(id)],
      ])('refuses while the Domain holds %s, and counts what it holds', async (kind, add) => {
        const id = await tenancy.domain()
        await add(id)
        const answer = await tenancy.call(tenancy.root, `DELETE /v1/domains/${id}`)
        expect(answer.status).toBe(409)
        const empty = {
          projects: 0,
          nodes: 0,
          principals: 0,
          groups: 0,
          join_tokens: 0,
          idp_bindings: 0,
          trust_bundles: 0,
          invitations: 0,
        }
        expect(answer.body).toMatchObject({ code: 'domain_not_empty', counts: { ...empty, [kind]: 1 } })
        expect(await domainRow(id)).toBeDefined()
        expect(await tenancy.tuplesOf(`domain:${id}`)).not.toEqual([])
        expect(await tenancy.outbox(answer)).toEqual([])
        expect(await tenancy.audit(answer)).toMatchObject({
          outcome: 'invariant_violation',
          reason: 'domain_not_empty',
        })
      })

      const START = new Date(START_MS)
      const addBinding = (id: string) =>
        tenancy.db
          .insertInto('idp_bindings')
          .values({
            id: tenancy.ids.next(),
            domain_id: id,
            alias: 'corp',
            label: 'Corp',
            issuer: 'https://corp.example',
            client_id: 'ctl',
            client_secret_sealed: null,
            api_audience: null,
            algorithms: '["ES256"]',
            claims: '{}',
            required_acr: '[]',
            required_amr: '[]',
            is_primary: true,
            is_active: false,
            auto_provision: 'null',
            allow_private_network: false,
            created_at: START,
            updated_at: START,
          })
          .execute()
      const addTrustBundle = (id: string) =>
        tenancy.db
          .insertInto('trust_bundles')
          .values({
            domain_id: id,
            trust_domain: 'example.org',
            bundle_url: null,
            allow_private_network: false,
            jwks: '{"keys":[]}',
            refresh_due_at: null,
            refreshed_at: START,
            refresh_failed_since: null,
            updated_at: START,
          })
          .execute()
      const addInvitation = (id: string, members: { accepted_at?: Date; expires_at?: Date } = {}) =>
        tenancy.db
          .insertInto('invitations')
          .values({
            id: tenancy.ids.next(),
            domain_id: id,
            email: 'ana@example.com',
            created_by: 'user:x',
            created_at: START,
            expires_at: new Date(START_MS + 1),
            accepted_at: null,
            accepted_by: members.accepted_at === undefined ? null : tenancy.ids.next(),
            ...members,
          })
          .execute()

      it('does not count invitations that can no longer be used, and removes them', async () => {
        const id = await tenancy.domain()
        await addInvitation(id, { accepted_at: START })
        await addInvitation(id, { expires_at: START })
        expect((await tenancy.call(tenancy.root, `DELETE /v1/domains/${id}`)).status).toBe(204)
        expect(await tenancy.db.selectFrom('invitations').select('id').where('domain_id', '=', id).execute()).toEqual(
          [],
        )
      })

      it('does not count join tokens that can no longer be used, and removes them', async () => {
        const id = await tenancy.domain()
        await tenancy.joinToken({ domainId: id }, { revoked: true })
        await tenancy.joinToken({ domainId: id }, { spent: true })
        await tenancy.joinToken({ domainId: id }, { expired: true })
        expect((await tenancy.call(tenancy.root, `DELETE /v1/domains/${id}`)).status).toBe(204)
        expect(await tenancy.db.selectFrom('join_tokens').select('id').where('domain_id', '=', id).execute()).toEqual(
          [],
        )
      })

      it('never leaves anything behind that was created at the same moment', async () => {
        const body = { slug: 'late', display_name: 'Late' }
        const subject = await tenancy.holder(tenancy.home, 'viewer', 'platform:main')
        for (let round = 0; round < 10; round++) {
          const id = await tenancy.domain()
          const creations = () => [
            tenancy.call(tenancy.root, `POST /v1/domains/${id}/projects`, body),
            tenancy.call(tenancy.root, `POST /v1/domains/${id}/groups`, body),
            tenancy.call(tenancy.root, `POST /v1/domains/${id}/grants`, { subject, relation: 'viewer' }),
          ]
          const first = round % 2 === 0 ? creations() : []
          const deletion = tenancy.call(tenancy.root, `DELETE /v1/domains/${id}`)
          const [project, group] = await Promise.all(first.length > 0 ? first : creations())
          const isHeld = project?.status === 201 || group?.status === 201
          expect((await deletion).status).toBe(isHeld ? 409 : 204)
          if (!isHeld) expect(await tenancy.tuplesOf(`domain:${id}`)).toEqual([])
        }
      })

      // The embedded store has one session: a transaction that waits for another cannot be arranged there.
      it.skipIf(store.name === 'embedded')('waits for a creation that has not committed, then counts it', async () => {
        const id = await tenancy.domain()
        const at = new Date(START_MS)
        const project = {
          id: NOWHERE,
          domain_id: id,
          slug: 'open',
          display_name: 'Open',
          created_at: at,
          updated_at: at,
        }
        let deletion: Promise<Answer> | undefined
        await tenancy.datastore.transaction('worker', async (tx) => {
          await tx.insertInto('projects').values(project).execute()
          deletion = tenancy.call(tenancy.root, `DELETE /v1/domains/${id}`)
          await vi.waitFor(async () => {
            const waiting = await sql`select from pg_locks where not granted`.execute(tx)
            expect(waiting.rows).toHaveLength(1)
          })
        })
        expect(await deletion).toMatchObject({ status: 409, body: { counts: { projects: 1 } } })
      })
    })
  })
})
