import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readNodes } from '../../../src/server/slices/nodes/node-store.ts'
import { pageRange } from '../../../src/server/ports/page-range.ts'
import { reachabilityAt } from '../../../src/server/sql/reachability.ts'
import { CHECKSUM, freshPublicKey, startFleet, type Enrolled, type Fleet } from '../../support/fleet/fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const STATES = ['never_reported', 'healthy', 'stale', 'unreachable'] as const

interface Item {
  readonly id: string
  readonly display_name: string
  readonly reachability: string
}

describe.each(STORES)('Nodes as people see them on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: Fleet
    let domain: string
    let startMs: number
    beforeAll(async () => {
      fleet = await startFleet(store)
      startMs = fleet.clock.nowMs
    })
    beforeEach(async () => {
      fleet.clock.nowMs = startMs
      domain = await fleet.domain()
    })
    afterAll(() => fleet.stop())

    const list = (query: string, as = fleet.root) => fleet.call(as, `GET /v1/nodes?${query}`)
    const itemsOf = ({ body }: { body: Readonly<Record<string, unknown>> }) => body['items'] as Item[]
    const namesOf = (answer: { body: Readonly<Record<string, unknown>> }) =>
      itemsOf(answer).map(({ display_name }) => display_name)

    /** What asks for the page after that answer; empty after the last one. */
    const cursorOf = ({ body }: { body: Readonly<Record<string, unknown>> }) => {
      const next = body['next_cursor'] as string | null
      return next === null ? '' : `&cursor=${next}`
    }

    describe('ListNodes', () => {
      it('shows what S0 says and, beside it, what people look for', async () => {
        const node = await fleet.enrol(domain, { name: 'web-1', kind: 'vm' })
        await fleet.beat(node, { binary_version: '1.2.3' })
        expect(itemsOf(await list(`domain_id=${domain}`))).toEqual([
          {
            id: node.node_id,
            name: '',
            domain_id: domain,
            kind: '',
            created_at: '2026-03-01T08:00:00.000Z',
            display_name: 'web-1',
            display_kind: 'vm',
            reachability: 'healthy',
            last_heartbeat_at: '2026-03-01T08:00:00.000Z',
            binary_version: '1.2.3',
            mesh_address: '100.64.0.1',
            endpoint: null,
            labels: {},
            psk_issued_at: '2026-03-01T08:00:00.000000000Z',
            rotation_pending: false,
            ephemeral: false,
          },
        ])
      })

      it('filters by Domain and by name', async () => {
        const other = await fleet.domain()
        const name = `web-${fleet.ids.next()}`
        await fleet.enrol(domain, { name })
        await fleet.enrol(other, { name })
        await fleet.enrol(domain, { name: 'db-1' })
        expect(itemsOf(await list(`name=${name}`))).toHaveLength(2)
        expect(namesOf(await list(`domain_id=${domain}&name=${name}`))).toEqual([name])
        expect(namesOf(await list(`domain_id=${domain}`))).toEqual([name, 'db-1'])
      })

      it('filters by kind, and by labels of which a node has all', async () => {
        await fleet.enrol(domain, { name: 'a', kind: 'vm' }, { labels: { site: 'here', tier: 'edge' } })
        await fleet.enrol(domain, { name: 'b', kind: 'vm' }, { labels: { site: 'there', note: 'x=y %_"' } })
        await fleet.enrol(domain, { name: 'c', kind: 'bridge' }, { labels: { site: 'here' } })
        await fleet.enrol(domain, { name: 'd' })
        const found = async (filter: string) => namesOf(await list(`domain_id=${domain}&${filter}`))
        const labelled = (labels: string) => found(`labels=${encodeURIComponent(labels)}`)
        expect(await found('kind=vm')).toEqual(['a', 'b'])
        expect(await found('kind=v%25')).toEqual([])
        expect(await labelled('site=here')).toEqual(['a', 'c'])
        expect(await labelled('site=here,tier=edge')).toEqual(['a'])
        expect(await labelled('site=here,site=here')).toEqual(['a', 'c'])
        expect(await labelled('site=here,site=there')).toEqual([])
        expect(await labelled('site,tier!=edge')).toEqual(['b', 'c'])
        expect(await labelled('note=x=y %_"')).toEqual(['b'])
        expect(await labelled('site=')).toEqual([])
        expect(await labelled('Site=here')).toEqual([])
        expect(await found('kind=bridge&labels=site%3Dhere&reachability=never_reported')).toEqual(['c'])
      })

      it('filters by reachability', async () => {
        const ages = { healthy: 0, stale: 90_000, unreachable: 300_000 }
        for (const [name, ageMs] of Object.entries(ages)) {
          const node = await fleet.enrol(domain, { name })
          fleet.clock.nowMs = startMs + 400_000 - ageMs
          await fleet.beat(node)
        }
        await fleet.enrol(domain, { name: 'silent' })
        fleet.clock.nowMs = startMs + 400_000
        const shown = []
        for (const state of STATES) shown.push(namesOf(await list(`domain_id=${domain}&reachability=${state}`)))
        expect(shown).toEqual([['silent'], ['healthy'], ['stale'], ['unreachable']])
      })

      it('shows each caller the nodes that they may read, and audits the page on the platform', async () => {
        const project = await fleet.project(domain)
        const node = await fleet.enrol(domain, { name: 'mine' }, { project_id: project })
        await fleet.enrol(domain, { name: 'others' })
        const viewer = await fleet.holder(domain, 'viewer', `project:${project}`)
        const answer = await list(`domain_id=${domain}`, viewer)
        expect(itemsOf(answer).map(({ id }) => id)).toEqual([node.node_id])
        expect(await fleet.audit(answer)).toMatchObject({
          relation: 'node.list',
          object: 'platform:main',
          outcome: 'granted',
        })
        const row = fleet.audited.at(-1)
        expect(row?.context).toEqual({ item_count: 1, 'node.list.authz_errors': 0 })
        await list('domain_id=nonsense', viewer)
        expect(fleet.audited.at(-1)?.context).toEqual({ 'node.list.authz_errors': 0 })
        const stranger = await fleet.principal(await fleet.domain())
        expect(itemsOf(await list(`domain_id=${domain}`, stranger))).toEqual([])
      })

      it('of hidden rows is not the end: the next page goes on behind them', async () => {
        const project = await fleet.project(domain)
        await fleet.enrol(domain)
        await fleet.enrol(domain)
        const mine = await fleet.enrol(domain, {}, { project_id: project })
        const viewer = await fleet.holder(domain, 'viewer', `project:${project}`)
        const first = await list(`domain_id=${domain}&limit=2`, viewer)
        expect(itemsOf(first)).toEqual([])
        const second = await list(`domain_id=${domain}&limit=2${cursorOf(first)}`, viewer)
        expect(itemsOf(second).map(({ id }) => id)).toEqual([mine.node_id])
      })

      it.each([
        ['invalid_domain_filter', 'domain_id=00000000-0000-0000-0000-000000000000'],
        ['invalid_domain_filter', 'domain_id=x'],
        ['invalid_reachability', 'reachability=gone'],
        ['invalid_limit', 'limit=0'],
        ['invalid_limit', 'limit=201'],
        ['invalid_cursor', 'cursor=x'],
        ['invalid_query', 'name=Web_1'],
        ['invalid_query', 'kind='],
        ['invalid_label_filter', 'labels='],
        ['invalid_label_filter', 'labels=site%3Dhere,'],
        ['invalid_label_filter', 'labels=%3Dhere'],
        ['invalid_label_filter', 'labels=Site%3Dhere,Site%3Dthere'],
        ['invalid_query', 'state=healthy'],
      ])('answers %s to ?%s', async (code, query) => {
        expect(await list(query)).toMatchObject({ status: 400, body: { code } })
      })

      it('answers 401 unauthorized to nobody', async () => {
        expect(await list('', 'nobody')).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
      })

      it('finds by reachability exactly those whose own reachability says so, at every moment', async () => {
        const nodes: Enrolled[] = []
        for (let n = 0; n < 12; n++) nodes.push(await fleet.enrol(domain))
        const ages = fc.oneof(
          fc.constant(undefined),
          fc.integer({ min: -1_000, max: 400_000 }),
          fc.constantFrom(89_999, 90_000, 90_001, 299_999, 300_000, 300_001),
        )
        await fc.assert(
          fc.asyncProperty(fc.array(ages, { minLength: 12, maxLength: 12 }), async (drawn) => {
            const nowMs = startMs + 1_000_000
            const acceptedAtMs = drawn.map((ageMs) => (ageMs === undefined ? undefined : nowMs - ageMs))
            for (const [index, { node_id }] of nodes.entries()) {
              const at = acceptedAtMs[index]
              await fleet.db
                .updateTable('node_heartbeats')
                .set({ accepted_at: at === undefined ? null : new Date(at) })
                .where('node_id', '=', node_id)
                .execute()
            }
            const page = pageRange(undefined, 100)
            for (const reachability of STATES) {
              const filter = {
                domainId: domain,
                name: undefined,
                reachability,
                kind: undefined,
                labels: undefined,
                nowMs,
              }
              const found = (await readNodes(fleet.db, filter, page)).map(({ id }) => id)
              const expected = nodes.flatMap(({ node_id }, index) => {
                const times = { createdAtMs: 0, acceptedAtMs: acceptedAtMs[index], healthySinceMs: undefined }
                return reachabilityAt(times, nowMs).state === reachability ? [node_id] : []
              })
              expect(found).toEqual(expected.toSorted())
            }
          }),
          { numRuns: 30 },
        )
      })
    })

    describe('GetNode', () => {
      it('shows the node with its keys and the instant of its preshared key', async () => {
        const public_key = freshPublicKey()
        const project = await fleet.project(domain)
        const terms = { project_id: project, labels: { zone: 'a' }, ephemeral: true }
        const node = await fleet.enrol(domain, { name: 'web-1', kind: 'vm', public_key }, terms)
        const answer = await fleet.call(fleet.root, `GET /v1/nodes/${node.node_id}`)
        expect(answer).toMatchObject({ status: 200 })
        expect(answer.body).toEqual({
          id: node.node_id,
          name: 'web-1',
          domain_id: domain,
          kind: 'vm',
          created_at: '2026-03-01T08:00:00.000Z',
          display_name: 'web-1',
          display_kind: 'vm',
          reachability: 'never_reported',
          last_heartbeat_at: null,
          binary_version: null,
          mesh_address: '100.64.0.1',
          mesh_cidr: '100.64.0.0/10',
          project_id: project,
          public_key,
          endpoint: null,
          labels: { zone: 'a' },
          rotation_pending: false,
          ephemeral: true,
          nat_type: null,
          endpoint_reported_at: null,
          capabilities: null,
          psk_issued_at: '2026-03-01T08:00:00.000000000Z',
          nsk: [{ kid: node.nsk.slice(-52, -44), created_at: '2026-03-01T08:00:00.000Z', retires_at: null }],
          updated_at: '2026-03-01T08:00:00.000Z',
        })
        expect(await fleet.audit(answer)).toMatchObject({ relation: 'node.read', domainId: domain })
      })

      it('takes an id in capitals as the same', async () => {
        const node = await fleet.enrol(domain)
        expect(await fleet.call(fleet.root, `GET /v1/nodes/${node.node_id.toUpperCase()}`)).toMatchObject({
          status: 200,
          body: { id: node.node_id },
        })
      })

      it('answers a stranger as it answers for a node that there is not', async () => {
        const node = await fleet.enrol(domain)
        const stranger = await fleet.principal(await fleet.domain())
        for (const id of [node.node_id, NOWHERE]) {
          expect(await fleet.call(stranger, `GET /v1/nodes/${id}`)).toMatchObject({
            status: 403,
            body: { missing_relation: { object: `node:${id}`, relation: 'read', subject: stranger } },
          })
        }
      })

      it('answers 404 for a node that went after the gate had passed', async () => {
        const node = await fleet.enrol(domain)
        await fleet.db.deleteFrom('nodes').where('id', '=', node.node_id).execute()
        const answers = [
          await fleet.call(fleet.root, `GET /v1/nodes/${node.node_id}`),
          await fleet.call(fleet.root, `GET /v1/nodes/${node.node_id}/reachability`),
          await fleet.call(fleet.root, `PATCH /v1/nodes/${node.node_id}`, { name: 'x' }),
          await fleet.call(fleet.root, `DELETE /v1/nodes/${node.node_id}`),
          await fleet.call(fleet.root, `POST /v1/nodes/${node.node_id}/nsk/rotate`),
          await fleet.call(fleet.root, `POST /v1/nodes/${node.node_id}/nsk/revoke`),
        ]
        for (const answer of answers) expect(answer).toMatchObject({ status: 404, body: { code: 'node_not_found' } })
      })

      it.each(['x', '00000000-0000-0000-0000-000000000000'])('answers invalid_node_id to %o', async (id) => {
        expect(await fleet.call(fleet.root, `GET /v1/nodes/${id}`)).toMatchObject({
          status: 400,
          body: { code: 'invalid_node_id' },
        })
      })
    })

    it('GetNode shows what the node observed and declared, and lists show an endpoint while it is fresh', async () => {
      const node = await fleet.enrol(domain)
      const at = new Date(startMs)
      const hooks = [{ name: 'backup', checksum: CHECKSUM }]
      await fleet.db
        .insertInto('node_endpoints')
        .values({
          node_id: node.node_id,
          domain_id: domain,
          last_endpoint: '2001:db8::7',
          last_endpoint_port: 51_820,
          nat_type: 'cone',
          last_endpoint_reported_at: at,
          last_endpoint_stale_at: null,
        })
        .execute()
      await fleet.db
        .insertInto('node_capabilities')
        .values({
          node_id: node.node_id,
          binary_version: '1.2.3',
          binary_checksum: Buffer.from(CHECKSUM, 'hex'),
          ssh_host_key_fingerprint: null,
          architecture: 'x86_64',
          hooks: JSON.stringify(hooks),
          updated_at: at,
        })
        .execute()
      const show = async () => (await fleet.call(fleet.root, `GET /v1/nodes/${node.node_id}`)).body
      expect(await show()).toMatchObject({
        endpoint: '[2001:db8::7]:51820',
        nat_type: 'cone',
        endpoint_reported_at: '2026-03-01T08:00:00.000Z',
        capabilities: {
          binary_version: '1.2.3',
          binary_checksum: CHECKSUM,
          ssh_host_key_fingerprint: null,
          architecture: 'x86_64',
          hooks,
          updated_at: '2026-03-01T08:00:00.000Z',
        },
      })
      expect(itemsOf(await list(`domain_id=${domain}`))).toMatchObject([{ endpoint: '[2001:db8::7]:51820' }])
      await fleet.db.updateTable('node_endpoints').set({ last_endpoint_stale_at: at }).execute()
      expect(await show()).toMatchObject({ endpoint: null, nat_type: 'cone' })
      expect(itemsOf(await list(`domain_id=${domain}`))).toMatchObject([{ endpoint: null }])
    })

    describe('PatchNode', () => {
      const patch = (node: Enrolled, body: object, as = fleet.root) =>
        fleet.call(as, `PATCH /v1/nodes/${node.node_id}`, body)

      it('renames the node and audits it', async () => {
        const node = await fleet.enrol(domain)
        fleet.wait(1_000)
        const answer = await patch(node, { name: 'web-9' })
        expect(answer).toMatchObject({
          status: 200,
          body: { display_name: 'web-9', updated_at: '2026-03-01T08:00:01.000Z', nsk: [{ retires_at: null }] },
        })
        expect(namesOf(await list(`domain_id=${domain}`))).toEqual(['web-9'])
        expect(await fleet.audit(answer)).toMatchObject({ relation: 'node.update', domainId: domain })
      })

      it('refuses a name that another node of the Domain has, and other members', async () => {
        const [one, other] = [await fleet.enrol(domain, { name: 'one' }), await fleet.enrol(domain, { name: 'other' })]
        expect(await patch(other, { name: 'one' })).toMatchObject({ status: 409, body: { code: 'node_name_conflict' } })
        expect(await patch(one, { name: 'one' })).toMatchObject({ status: 200 })
        expect(await patch(one, { kind: 'vm' })).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
        expect(namesOf(await list(`domain_id=${domain}`))).toEqual(['one', 'other'])
      })

      it('needs node-operate on the node', async () => {
        const node = await fleet.enrol(domain, { name: 'one' })
        const viewer = await fleet.holder(domain, 'viewer', `domain:${domain}`)
        expect(await patch(node, { name: 'two' }, viewer)).toMatchObject({ status: 403 })
        const operator = await fleet.holder(domain, 'operator', `node:${node.node_id}`)
        expect(await patch(node, { name: 'two' }, operator)).toMatchObject({ status: 200 })
      })
    })

    describe('PatchNode of labels and Project', () => {
      const patch = (node: Enrolled, body: object, as = fleet.root) =>
        fleet.call(as, `PATCH /v1/nodes/${node.node_id}`, body)
      const tuplesIn = async (project: string) => {
        const rows = await fleet.db
          .selectFrom('relation_tuples')
          .select(['resource_type', 'resource_id', 'relation'])
          .where('project_id', '=', project)
          .where('structural', '=', false)
          .execute()
        return rows.map(({ resource_type, resource_id, relation }) => `${resource_type}:${resource_id} ${relation}`)
      }

      it('replaces the labels, and tells the node that its own state may be another', async () => {
        const node = await fleet.enrol(domain, {}, { labels: { zone: 'a', tier: 'edge' } })
        const revision = () =>
          fleet.db
            .selectFrom('node_heartbeats')
            .select('node_revision')
            .where('node_id', '=', node.node_id)
            .executeTakeFirstOrThrow()
        const before = await revision()
        expect(await patch(node, { labels: { zone: 'b' } })).toMatchObject({
          status: 200,
          body: { labels: { zone: 'b' } },
        })
        expect(Number((await revision()).node_revision)).toBe(Number(before.node_revision) + 1)
        expect(namesOf(await list('labels=zone=b'))).toHaveLength(1)
        const labels = Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`l${n}`, 'x']))
        expect(await patch(node, { labels })).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
      })

      it('puts the node into a Project, into another and into none, and keeps the roles on it', async () => {
        const node = await fleet.enrol(domain)
        const reference = `node:${node.node_id}`
        const [web, db] = [await fleet.project(domain), await fleet.project(domain)]
        const operator = await fleet.holder(domain, 'operator', reference)
        const viewer = await fleet.holder(domain, 'viewer', `project:${db}`)
        const sees = async (as: string) => (await fleet.call(as, `GET /v1/nodes/${node.node_id}`)).status
        expect([await sees(viewer), await sees(operator)]).toEqual([403, 200])
        expect(await patch(node, { project_id: web })).toMatchObject({ status: 200, body: { project_id: web } })
        expect([await sees(viewer), await sees(operator), await tuplesIn(web)]).toEqual([
          403,
          200,
          [`${reference} operator`],
        ])
        expect(await patch(node, { project_id: db })).toMatchObject({ status: 200, body: { project_id: db } })
        expect([await sees(viewer), await sees(operator), await tuplesIn(web)]).toEqual([200, 200, []])
        expect(await tuplesIn(db)).toContain(`${reference} operator`)
        expect(await patch(node, { project_id: null })).toMatchObject({ status: 200, body: { project_id: null } })
        expect([await sees(viewer), await sees(operator), await tuplesIn(db)]).toEqual([
          403,
          200,
          expect.not.arrayContaining([`${reference} operator`]),
        ])
        expect(await patch(node, { project_id: db })).toMatchObject({ status: 200 })
        expect(await sees(viewer)).toBe(200)
      })

      it('needs manage on the Domain for another Project, which must be of the same Domain', async () => {
        const node = await fleet.enrol(domain)
        const operator = await fleet.holder(domain, 'operator', `node:${node.node_id}`)
        const web = await fleet.project(domain)
        expect(await patch(node, { labels: {} }, operator)).toMatchObject({ status: 200 })
        expect(await patch(node, { project_id: web }, operator)).toMatchObject({
          status: 403,
          body: { missing_relation: { relation: 'manage', object: `domain:${domain}` } },
        })
        const elsewhere = await fleet.project(await fleet.domain())
        for (const project_id of [elsewhere, '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'])
          expect(await patch(node, { project_id })).toMatchObject({ status: 404, body: { code: 'project_not_found' } })
        expect((await fleet.call(fleet.root, `GET /v1/nodes/${node.node_id}`)).body).toMatchObject({ project_id: null })
      })
    })

    describe('GetNodeReachability', () => {
      const reachability = (node: Enrolled, as = fleet.root) =>
        fleet.call(as, `GET /v1/nodes/${node.node_id}/reachability`)

      it('follows the life of a node', async () => {
        const node = await fleet.enrol(domain)
        const seen: unknown[] = []
        const look = async (afterMs: number) => {
          fleet.wait(afterMs)
          seen.push((await reachability(node)).body)
        }
        await look(1_000)
        await fleet.beat(node)
        await look(89_999)
        await look(1)
        await look(210_000)
        await fleet.beat(node)
        await look(0)
        expect(seen).toEqual([
          { state: 'never_reported', changed_at: '2026-03-01T08:00:00.000Z' },
          {
            state: 'healthy',
            last_heartbeat_at: '2026-03-01T08:00:01.000Z',
            changed_at: '2026-03-01T08:00:01.000Z',
          },
          { state: 'stale', last_heartbeat_at: '2026-03-01T08:00:01.000Z', changed_at: '2026-03-01T08:01:31.000Z' },
          {
            state: 'unreachable',
            last_heartbeat_at: '2026-03-01T08:00:01.000Z',
            changed_at: '2026-03-01T08:05:01.000Z',
          },
          {
            state: 'healthy',
            last_heartbeat_at: '2026-03-01T08:05:01.000Z',
            changed_at: '2026-03-01T08:05:01.000Z',
          },
        ])
      })

      it('is read by the node itself, by those who hold node-agent, and by nobody else', async () => {
        const node = await fleet.enrol(domain)
        expect(await reachability(node, node.nsk)).toMatchObject({ status: 200 })
        const agent = await fleet.holder(domain, 'agent', `node:${node.node_id}`)
        expect(await reachability(node, agent)).toMatchObject({ status: 200 })
        const viewer = await fleet.holder(domain, 'viewer', `domain:${domain}`)
        expect(await reachability(node, viewer)).toMatchObject({ status: 403 })
        const other = await fleet.enrol(domain)
        expect(await reachability(node, other.nsk)).toMatchObject({ status: 403, body: { code: 'node_id_mismatch' } })
      })

      it('leaves an audit row of denials alone', async () => {
        const node = await fleet.enrol(domain)
        expect(await fleet.audit(await reachability(node))).toBeUndefined()
        const viewer = await fleet.holder(domain, 'viewer', `domain:${domain}`)
        expect(await fleet.audit(await reachability(node, viewer))).toMatchObject({
          relation: 'node_reachability.read',
          object: `node:${node.node_id}`,
          outcome: 'permission_denied',
        })
      })
    })
  })
})
