import { createPublicKey, verify } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Enrolled } from '../support/fleet/fleet.ts'
import { STORES } from '../support/datastores/stores.ts'
import { ISSUER, startTaskedFleet, type TaskedFleet } from '../support/fleet/tasked-fleet.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const DAY_MS = 86_400_000

describe.each(STORES)('Mediated sessions on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: TaskedFleet
    let startMs: number
    let domain: string
    let project: string
    let node: Enrolled
    beforeAll(async () => {
      fleet = await startTaskedFleet(store)
      startMs = fleet.clock.nowMs
    })
    beforeEach(async () => {
      fleet.clock.nowMs = startMs
      fleet.signing.isAway = false
      domain = await fleet.domain()
      project = await fleet.project(domain)
      node = await fleet.enrol(domain)
    })
    afterAll(() => fleet.stop())

    const path = (id = '') => `/v1/projects/${project}/sessions${id === '' ? '' : `/${id}`}`
    const issue = (members = {}, as = fleet.root) => fleet.issue(project, { node_id: node.node_id, ...members }, as)
    const issued = async (members = {}) => String((await issue(members)).body['session_id'])
    const revoke = (id: string, as = fleet.root) => fleet.call(as, `DELETE ${path(id)}`)
    const list = (as = fleet.root, query = '') => fleet.call(as, `GET ${path()}${query}`)
    const listed = async (as = fleet.root) =>
      ((await list(as)).body['items'] as { session_id: string }[]).map(({ session_id }) => session_id)
    const own = async () => (await fleet.revisions(node)).own
    const rows = () => fleet.db.selectFrom('mediated_sessions').selectAll().where('domain_id', '=', domain).execute()
    const row = async (id: string) =>
      await fleet.db.selectFrom('mediated_sessions').selectAll().where('id', '=', id).executeTakeFirst()
    /** Lets root hold a relation by name on something that is gone. */
    const grant = (relation: string, resource: string) =>
      fleet.change(({ tuples }) =>
        tuples.create({ subject: fleet.root, relation, resource }, { domainId: domain, projectId: null }),
      )
    const ssh = { ssh: { event: 'opened' } }

    describe('CreateMediatedSession', () => {
      it('issues it for an hour, tells the node, changes its state and is audited', async () => {
        const before = await own()
        const answer = await issue()
        expect(answer.status).toBe(201)
        const { token, ...shown } = answer.body
        const id = String(shown['session_id'])
        expect(shown).toEqual({
          session_id: id,
          jti: id,
          project_id: project,
          node_id: node.node_id,
          kind: 'ssh',
          target: 'deploy',
          issued_by: fleet.root,
          issued_at: '2026-03-01T08:00:00.000Z',
          expires_at: '2026-03-01T09:00:00.000Z',
          last_active_at: null,
          revoked_at: null,
        })
        expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]{86}$/)
        expect(await fleet.outbox(answer)).toEqual([
          {
            event: 'session_issued',
            domain_id: domain,
            aggregate: `node:${node.node_id}`,
            payload: {
              node_id: node.node_id,
              session_id: id,
              jti: id,
              kind: 'ssh',
              target: 'deploy',
              expires_at: '2026-03-01T09:00:00.000Z',
            },
          },
        ])
        expect(await fleet.audit(answer)).toEqual({
          relation: 'mediated_session.create',
          object: `project:${project}`,
          outcome: 'granted',
          reason: 'granted',
          domainId: domain,
        })
        expect(await own()).toBe(before + 1)
      })

      it('says in the token who may do what through which node until when, signed with a published key', async () => {
        const { token, session_id: id } = (await issue({ kind: 'tcp', target: 'db:5432', ttl_seconds: 43_200 })).body
        const [head = '', claims = '', signature = ''] = String(token).split('.')
        const parsed = (part: string): Record<string, unknown> => JSON.parse(Buffer.from(part, 'base64url').toString())
        const { alg, typ, kid, ...others } = parsed(head)
        expect({ alg, typ, others }).toEqual({ alg: 'EdDSA', typ: 'JWT', others: {} })
        const startS = startMs / 1000
        expect(parsed(claims)).toEqual({
          iss: ISSUER,
          sub: fleet.root,
          aud: node.node_id,
          jti: id,
          kind: 'tcp',
          target: 'db:5432',
          iat: startS,
          exp: startS + 43_200,
        })
        const published = await fleet.call(fleet.root, 'GET /v1/signing-keys')
        const key = (published.body['keys'] as { kid: string; x: string }[]).find((one) => one.kid === kid)
        const jwk = { kty: 'OKP', crv: 'Ed25519', x: key?.x ?? '' }
        const signed = Buffer.from(`${head}.${claims}`)
        const publicKey = createPublicKey({ key: jwk, format: 'jwk' })
        expect(verify(null, signed, publicKey, Buffer.from(signature, 'base64url'))).toBe(true)
      })

      it('takes an idle timeout, which the node is told', async () => {
        const answer = await issue({ idle_timeout_seconds: 60 })
        expect(answer.body).toMatchObject({ idle_timeout_seconds: 60 })
        expect(await fleet.outbox(answer)).toMatchObject([{ payload: { idle_timeout_seconds: 60 } }])
      })

      it('keeps the token nowhere', async () => {
        const { token, session_id: id } = (await issue()).body
        const signature = String(token).split('.')[2] ?? ''
        const revoked = await revoke(String(id))
        const stored = [
          await rows(),
          await fleet.db.selectFrom('outbox').selectAll().execute(),
          await fleet.db.selectFrom('audit').selectAll().execute(),
          fleet.audited,
          (await list()).body,
          revoked.body,
        ]
        expect(signature).toHaveLength(86)
        expect(JSON.stringify(stored)).not.toContain(signature)
      })

      it('leaves nothing where the signer is away', async () => {
        fleet.signing.isAway = true
        const before = await own()
        const answer = await issue()
        expect(answer).toMatchObject({ status: 503, body: { code: 'signing_unavailable' } })
        expect(await rows()).toEqual([])
        expect(await fleet.outbox(answer)).toEqual([])
        expect(await own()).toBe(before)
        expect(await fleet.audit(answer)).toMatchObject({ outcome: 'internal_error', reason: 'signing_unavailable' })
      })

      it.each([
        ['a kind that there is not', { kind: 'rdp' }],
        ['no target', { target: '' }],
        ['a target of more than 256 characters', { target: 'x'.repeat(257) }],
        ['no lifetime', { ttl_seconds: 0 }],
        ['more than twelve hours', { ttl_seconds: 43_201 }],
        ['an idle timeout of nothing', { idle_timeout_seconds: 0 }],
        ['an unknown member', { token: 'x' }],
      ])('refuses %s', async (_what, members) => {
        expect(await issue(members)).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
        expect(await rows()).toEqual([])
      })

      it('refuses a malformed node id', async () => {
        expect(await issue({ node_id: 'x' })).toMatchObject({ status: 400, body: { code: 'invalid_node_id' } })
      })

      it('refuses a node of another Domain to those who may read it, and one that is gone', async () => {
        await grant('viewer', `node:${NOWHERE}`)
        const elsewhere = await fleet.enrol(await fleet.domain())
        for (const node_id of [elsewhere.node_id, NOWHERE]) {
          const answer = await issue({ node_id })
          expect(answer).toMatchObject({ status: 404, body: { code: 'node_not_found' } })
          expect(await fleet.outbox(answer)).toEqual([])
        }
        expect(await rows()).toEqual([])
      })

      it('says to those who could deploy that the Project is gone', async () => {
        await grant('deployer', `project:${NOWHERE}`)
        const answer = await fleet.issue(NOWHERE, { node_id: node.node_id })
        expect(answer).toMatchObject({ status: 404, body: { code: 'project_not_found' } })
      })

      it('needs deploy on the Project, and read on the node', async () => {
        const viewer = await fleet.holder(domain, 'viewer', `domain:${domain}`)
        expect(await issue({}, viewer)).toMatchObject({
          status: 403,
          body: { missing_relation: { object: `project:${project}`, relation: 'deploy', subject: viewer } },
        })
        const deployer = await fleet.holder(domain, 'deployer', `project:${project}`)
        const refused = await issue({}, deployer)
        expect(refused).toMatchObject({
          status: 403,
          body: { missing_relation: { object: `node:${node.node_id}`, relation: 'read', subject: deployer } },
        })
        expect(await fleet.audit(refused)).toMatchObject({ outcome: 'permission_denied' })
        expect((await issue({ node_id: NOWHERE }, deployer)).status).toBe(403)
        expect(await rows()).toEqual([])
        const member = await fleet.enrol(domain, {}, { project_id: project })
        expect((await issue({ node_id: member.node_id }, deployer)).status).toBe(201)
      })
    })

    describe('ListMediatedSessions', () => {
      it('lists the live sessions of the Project alone, without their tokens', async () => {
        const [ended, ...live] = [await issued(), await issued(), await issued()]
        await revoke(ended)
        await fleet.issue(await fleet.project(domain), { node_id: node.node_id })
        const answer = await list(fleet.root)
        expect(answer.body['items']).toMatchObject([{ session_id: live[1] }, { session_id: live[0] }])
        expect(JSON.stringify(answer.body)).not.toContain('token')
        expect(await fleet.audit(answer)).toMatchObject({ relation: 'mediated_session.list', outcome: 'granted' })
      })

      it('leaves out what has expired, swept or not', async () => {
        await issued({ ttl_seconds: 10 })
        fleet.wait(9_999)
        expect(await listed()).toHaveLength(1)
        fleet.wait(1)
        expect(await listed()).toEqual([])
      })

      it('leaves out sessions through nodes that the caller may not read', async () => {
        const member = await fleet.enrol(domain, {}, { project_id: project })
        await issued()
        const seen = await issued({ node_id: member.node_id })
        const deployer = await fleet.holder(domain, 'deployer', `project:${project}`)
        expect(await listed(deployer)).toEqual([seen])
      })

      it('needs deploy on the Project', async () => {
        const viewer = await fleet.holder(domain, 'viewer', `domain:${domain}`)
        expect(await list(viewer)).toMatchObject({ status: 403, body: { missing_relation: { relation: 'deploy' } } })
      })
    })

    describe('DeleteMediatedSession', () => {
      it('revokes once, tells the node and changes its state', async () => {
        const id = await issued()
        const before = await own()
        fleet.wait(1_000)
        const answer = await revoke(id)
        expect(answer.status).toBe(204)
        const at = new Date(startMs + 1_000)
        expect(await row(id)).toMatchObject({ revoked_at: at, ended_at: at })
        expect(await fleet.outbox(answer)).toEqual([
          {
            event: 'session_revoked',
            domain_id: domain,
            aggregate: `node:${node.node_id}`,
            payload: { node_id: node.node_id, session_id: id },
          },
        ])
        expect(await fleet.audit(answer)).toEqual({
          relation: 'mediated_session.revoke',
          object: `project:${project}`,
          outcome: 'granted',
          reason: 'granted',
          domainId: domain,
        })
        expect(await own()).toBe(before + 1)
        const again = await revoke(id)
        expect(again).toMatchObject({ status: 404, body: { code: 'session_not_found' } })
        expect(await fleet.outbox(again)).toEqual([])
        expect(await own()).toBe(before + 1)
      })

      it('lets one of eight at once pass, and tells the node once', async () => {
        const id = await issued()
        const before = await own()
        const answers = await Promise.all(Array.from({ length: 8 }, () => revoke(id)))
        expect(answers.map(({ status }) => status).toSorted()).toEqual([204, ...Array<number>(7).fill(404)])
        const told = await Promise.all(answers.map((answer) => fleet.outbox(answer)))
        expect(told.flat()).toHaveLength(1)
        expect(await own()).toBe(before + 1)
      })

      it('finds neither expired ones nor those of another Project', async () => {
        const [elsewhere, expired] = [
          String((await fleet.issue(await fleet.project(domain), { node_id: node.node_id })).body['session_id']),
          await issued({ ttl_seconds: 1 }),
        ]
        fleet.wait(1_000)
        for (const id of [elsewhere, expired, NOWHERE])
          expect(await revoke(id)).toMatchObject({ status: 404, body: { code: 'session_not_found' } })
        expect((await revoke('x')).body['code']).toBe('invalid_session_id')
        expect(await row(elsewhere)).toMatchObject({ revoked_at: null })
      })

      it('needs deploy on the Project, and read on the node', async () => {
        const id = await issued()
        const viewer = await fleet.holder(domain, 'viewer', `domain:${domain}`)
        expect(await revoke(id, viewer)).toMatchObject({
          status: 403,
          body: { missing_relation: { relation: 'deploy' } },
        })
        const deployer = await fleet.holder(domain, 'deployer', `project:${project}`)
        expect(await revoke(id, deployer)).toMatchObject({
          status: 403,
          body: { missing_relation: { object: `node:${node.node_id}`, relation: 'read' } },
        })
        expect(await row(id)).toMatchObject({ revoked_at: null })
      })
    })

    describe('PostSessionActivity', () => {
      it.each([
        ['ssh', { ssh: { event: 'exec' } }],
        ['cluster_api', { cluster_api: { verb: 'get', path: '/api/v1/pods' } }],
        ['tcp', { tcp: { bytes_in: 0, bytes_out: 9_007_199_254_740_991 } }],
      ])('of a session of kind %s says that it is in use, and is no change of state', async (kind, body) => {
        const id = await issued({ kind })
        const before = await own()
        fleet.wait(1_000)
        const answer = await fleet.use(node, id, body)
        expect(answer.status).toBe(204)
        expect((await list()).body['items']).toMatchObject([{ last_active_at: '2026-03-01T08:00:01.000Z' }])
        expect(await own()).toBe(before)
        expect(await fleet.outbox(answer)).toEqual([])
        expect(await fleet.audit(answer)).toEqual({
          relation: 'mediated_session.activity',
          object: `node:${node.node_id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId: domain,
        })
      })

      it.each([
        ['of another kind', { tcp: { bytes_in: 1, bytes_out: 1 } }],
        ['of two kinds', { ...ssh, tcp: { bytes_in: 1, bytes_out: 1 } }],
        ['of none', {}],
        ['of an unknown kind', { rdp: {} }],
        ['with an unknown event', { ssh: { event: 'typed' } }],
        ['with an unknown member', { ssh: { event: 'opened', user: 'x' } }],
        ['with counters that run backwards', { tcp: { bytes_in: -1, bytes_out: 1 } }],
        ['that is a list', [ssh]],
      ])('%s is refused', async (_what, body) => {
        const id = await issued()
        expect(await fleet.use(node, id, body)).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
        expect(await row(id)).toMatchObject({ last_active_at: null })
      })

      it('on a revoked session is told so, and on an expired one that there is none', async () => {
        const [revoked, expired] = [await issued(), await issued({ ttl_seconds: 1 })]
        await revoke(revoked)
        fleet.wait(1_000)
        const told = async () => [
          (await fleet.use(node, revoked, ssh)).body['code'],
          (await fleet.use(node, expired, ssh)).body['code'],
        ]
        expect(await told()).toEqual(['session_already_revoked', 'session_not_found'])
        fleet.wait(3_600_000)
        await fleet.sweep()
        expect(await told()).toEqual(['session_already_revoked', 'session_not_found'])
        expect(await fleet.use(node, revoked, ssh)).toMatchObject({ status: 409 })
        expect(await fleet.use(node, expired, ssh)).toMatchObject({ status: 404 })
        expect(await row(revoked)).toMatchObject({ last_active_at: null })
      })

      it('is the node’s own: another one’s key is refused, another one’s session unknown', async () => {
        const id = await issued()
        const other = await fleet.enrol(domain)
        const refused = await fleet.call(other.nsk, `POST /v1/nodes/${node.node_id}/sessions/${id}`, ssh)
        expect(refused).toMatchObject({ status: 403, body: { code: 'nsk_node_mismatch' } })
        expect(await fleet.audit(refused)).toMatchObject({ outcome: 'permission_denied', reason: 'nsk_node_mismatch' })
        for (const unknown of [id, NOWHERE])
          expect(await fleet.use(other, unknown, ssh)).toMatchObject({
            status: 404,
            body: { code: 'session_not_found' },
          })
        const asRoot = await fleet.call(fleet.root, `POST /v1/nodes/${node.node_id}/sessions/${id}`, ssh)
        expect(asRoot).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
        expect((await fleet.use(node, 'x', ssh)).body['code']).toBe('invalid_session_id')
        expect(await row(id)).toMatchObject({ last_active_at: null })
      })
    })

    describe('time', () => {
      it('ends a session at its expiry and tells nobody, and one unused for too long before, which the node is told', async () => {
        const expiring = await issued({ ttl_seconds: 100, idle_timeout_seconds: 100 })
        const [idle, used] = [await issued({ idle_timeout_seconds: 60 }), await issued({ idle_timeout_seconds: 60 })]
        const before = await own()
        fleet.wait(30_000)
        await fleet.use(node, used, ssh)
        fleet.wait(29_999)
        await fleet.sweep()
        expect(await listed()).toHaveLength(3)
        fleet.wait(1)
        await fleet.sweep()
        const at = new Date(startMs + 60_000)
        expect(await row(idle)).toMatchObject({ revoked_at: at, ended_at: at })
        expect((await fleet.use(node, idle, ssh)).body['code']).toBe('session_already_revoked')
        expect(await listed()).toEqual([used, expiring])
        expect(await own()).toBe(before + 1)
        const said = async () =>
          await fleet.db
            .selectFrom('outbox')
            .select('payload')
            .where('event', '=', 'session_revoked')
            .where('aggregate', '=', `node:${node.node_id}`)
            .execute()
        expect(await said()).toEqual([{ payload: { node_id: node.node_id, session_id: idle } }])
        await fleet.use(node, used, ssh)
        fleet.wait(40_000)
        await fleet.sweep()
        expect(await row(expiring)).toMatchObject({ revoked_at: null, ended_at: new Date(startMs + 100_000) })
        expect(await own()).toBe(before + 2)
        expect(await said()).toHaveLength(1)
      })

      it('ends more than one batch at once', async () => {
        const at = new Date(startMs)
        const over = Array.from({ length: 450 }, () => ({
          id: fleet.ids.next(),
          domain_id: domain,
          project_id: project,
          node_id: node.node_id,
          kind: 'ssh' as const,
          target: 'x',
          issued_by: 'user:x',
          issued_at: at,
          expires_at: at,
          idle_timeout_seconds: null,
          last_active_at: null,
          revoked_at: null,
          ended_at: null,
        }))
        await fleet.db.insertInto('mediated_sessions').values(over).execute()
        await fleet.sweep()
        expect((await rows()).filter(({ ended_at }) => ended_at === null)).toEqual([])
      })

      it('forgets an end after 30 days', async () => {
        const id = await issued()
        await revoke(id)
        fleet.wait(30 * DAY_MS)
        await fleet.sweep()
        expect(await row(id)).toBeDefined()
        fleet.wait(1)
        await fleet.sweep()
        expect(await row(id)).toBeUndefined()
        expect((await fleet.use(node, id, ssh)).body['code']).toBe('session_not_found')
      })
    })

    describe('what it hangs on', () => {
      it('keeps its Project while it is not ended, and goes with it afterwards', async () => {
        const id = await issued()
        const refused = await fleet.call(fleet.root, `DELETE /v1/projects/${project}`)
        expect(refused).toMatchObject({
          status: 409,
          body: { code: 'project_not_empty', counts: { resources: 0, nodes: 0, join_tokens: 0, mediated_sessions: 1 } },
        })
        await revoke(id)
        expect((await fleet.call(fleet.root, `DELETE /v1/projects/${project}`)).status).toBe(204)
        expect(await row(id)).toBeUndefined()
      })

      it('goes with its node, and then with the Domain nothing is in the way', async () => {
        const id = await issued()
        expect((await fleet.call(fleet.root, `DELETE /v1/nodes/${node.node_id}`)).status).toBe(204)
        expect(await row(id)).toBeUndefined()
        expect((await fleet.call(fleet.root, `DELETE /v1/projects/${project}`)).status).toBe(204)
        expect((await fleet.call(fleet.root, `DELETE /v1/domains/${domain}`)).status).toBe(204)
      })
    })
  })
})
