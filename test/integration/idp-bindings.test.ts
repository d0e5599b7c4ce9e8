import { generateKeyPairSync } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createBindingDirectory } from '../../src/server/slices/idp-bindings/directory.ts'
import type { IdpBindings, WhereToSignIn } from '../../src/server/ports/idp-bindings.ts'
import { bindingSurface, CALLBACK_URL, type BindingWatch } from '../support/sign-in/bindings.ts'
import type { Answer } from '../support/server/control-plane.ts'
import { DISCOVERY, discoveryOf, startStubIssuer } from '../support/sign-in/stub-issuer.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

const RSA_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' })

const GOOGLE = {
  alias: 'google',
  label: 'Google',
  issuer: 'https://accounts.google.com',
  client_id: 'client',
  client_secret: 'hunter2',
}

describe.each(STORES)('Identity provider bindings on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let tenancy: Tenancy
    let bindings: IdpBindings
    let watch: BindingWatch
    let domainId: string
    let admin: string
    let serial = 0
    beforeAll(async () => {
      watch = { ended: [], forgotten: [] }
      tenancy = await startTenancy(store, (parts) => ({ surfaces: [bindingSurface(parts, watch)] }))
      bindings = createBindingDirectory(tenancy)
    })
    beforeEach(async () => {
      await tenancy.db.deleteFrom('idp_bindings').execute()
      watch.ended.length = 0
      watch.forgotten.length = 0
      domainId = await tenancy.domain()
      admin = await tenancy.holder(domainId, 'admin', `domain:${domainId}`)
    })
    afterAll(() => tenancy.stop())

    const codeOf = ({ status, body }: Answer) => [status, body['code']]
    const reasonOf = ({ status, body }: Answer) => [status, body['code'], body['reason']]
    const create = (more: object = {}, as = admin, place = `domain_id=${domainId}`) =>
      tenancy.call(as, `POST /v1/admin/idp?${place}`, { ...GOOGLE, ...more })
    /** Creates a binding and gives its id. */
    const made = async (more: object = {}, as = admin, place = `domain_id=${domainId}`): Promise<string> => {
      const answer = await create({ alias: `a-${(serial += 1)}`, ...more }, as, place)
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
      return String(answer.body['id'])
    }
    const shared = (more: object = {}) => made(more, tenancy.root, 'scope=platform')
    const patch = (id: string, body: object, as = admin) => tenancy.call(as, `PATCH /v1/admin/idp/${id}`, body)
    const offered = (of: string) => tenancy.call('nobody', `GET /v1/auth/idp-bindings?domain_id=${of}`)
    const secretOf = (id: string) => bindings.clientSecret(tenancy.db, id)

    describe('PostAdminIdP', () => {
      it('stores the binding with its defaults, announces and audits it, and never shows the secret', async () => {
        const answer = await create()
        const id = String(answer.body['id'])
        expect(answer.status).toBe(201)
        expect(answer.body).toEqual({
          id,
          domain_id: domainId,
          alias: 'google',
          label: 'Google',
          issuer: 'https://accounts.google.com',
          client_id: 'client',
          client_secret_ref: `sealed:${id}`,
          api_audience: null,
          algorithms: ['RS256', 'ES256'],
          claims: { subject: 'sub', email: 'email', name: 'name', groups: null, domain: null },
          required_acr: [],
          required_amr: [],
          sign_in: true,
          primary: false,
          active: true,
          auto_provision: null,
          allow_private_network: false,
          created_at: '2026-03-01T08:00:00.000Z',
          updated_at: '2026-03-01T08:00:00.000Z',
        })
        expect(await tenancy.outbox(answer)).toEqual([
          {
            event: 'IdPBindingCreated',
            domain_id: domainId,
            aggregate: `idp_binding:${id}`,
            payload: { binding_id: id, alias: 'google', issuer: 'https://accounts.google.com' },
          },
        ])
        expect(await tenancy.audit(answer)).toEqual({
          relation: 'idp_binding.create',
          object: `idp_binding:${id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId,
        })
        expect(await secretOf(id)).toBe('hunter2')
      })

      it('keeps the secret sealed, and bound to its row', async () => {
        const [id, other] = [await made(), await made()]
        const { client_secret_sealed: sealed } = await tenancy.db
          .selectFrom('idp_bindings')
          .select('client_secret_sealed')
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
        expect(sealed?.includes('hunter2')).toBe(false)
        await tenancy.db
          .updateTable('idp_bindings')
          .set({ client_secret_sealed: sealed })
          .where('id', '=', other)
          .execute()
        await expect(secretOf(other)).rejects.toThrow()
      })

      it('takes a public client, every member, and tells the two apart', async () => {
        const { client_secret: _, ...open } = GOOGLE
        const members = {
          api_audience: 'https://ctl.example',
          algorithms: ['EdDSA', 'EdDSA'],
          claims: { groups: 'roles' },
          required_acr: ['gold'],
          required_amr: ['mfa'],
          primary: true,
          auto_provision: { email_domains: ['Example.COM'] },
        }
        const answer = await tenancy.call(admin, `POST /v1/admin/idp?domain_id=${domainId}`, { ...open, ...members })
        expect(answer.body).toMatchObject({
          ...members,
          client_secret_ref: null,
          algorithms: ['EdDSA'],
          claims: { subject: 'sub', email: 'email', name: 'name', groups: 'roles', domain: null },
          auto_provision: { email_domains: ['example.com'], groups: [] },
        })
        const found = await bindings.find(tenancy.db, String(answer.body['id']))
        expect(found).toMatchObject({ isConfidential: false, isPrimary: true, isBundled: false, requiredAmr: ['mfa'] })
        expect(found?.autoProvision).toEqual({ emailDomains: ['example.com'], groups: [] })
        expect(await secretOf(String(answer.body['id']))).toBeUndefined()
      })

      it.each([
        ['the client id as audience', { api_audience: 'client' }, /^api_audience must differ from client_id/],
        ['plain HTTP', { issuer: 'http://idp.example' }, /^issuer must be an https: URL/],
        ['a user in the issuer', { issuer: 'https://me@idp.example' }, /^issuer must not carry a user name/],
        ['no URL', { issuer: 'https://[' }, /^issuer must be a URL$/],
        ['a Domain claim in a Domain', { claims: { domain: 'tenant' } }, /^claims\.domain is for platform-shared/],
      ])('refuses %s', async (_what, more, reason) => {
        const answer = await create(more)
        expect(reasonOf(answer)).toEqual([400, 'invalid_idp_binding', expect.stringMatching(reason)])
        expect(await tenancy.outbox(answer)).toEqual([])
      })

      it.each([
        ['a symmetric algorithm', { algorithms: ['HS256'] }],
        ['the algorithm none', { algorithms: ['none'] }],
        ['no algorithm', { algorithms: [] }],
        ['an issuer with a query', { issuer: 'https://idp.example/?a=b' }],
        ['an issuer of another scheme', { issuer: 'ldap://idp.example' }],
        ['provision for nobody', { auto_provision: {} }],
        ['an unknown member', { secret: 'x' }],
        ['an id of its own', { id: NOWHERE }],
      ])('refuses %s as no body of its', async (_what, more) => {
        expect(codeOf(await create(more))).toEqual([400, 'invalid_body'])
      })

      it('takes plain HTTP of loopback, and of anywhere where private networks are allowed', async () => {
        for (const issuer of ['http://127.0.0.1:8080', 'http://localhost:8080/realm', 'http://[::1]:8080']) {
          await made({ issuer })
        }
        await made({ issuer: 'http://keycloak.internal', allow_private_network: true }, tenancy.root)
      })

      it('lets only who manages the platform open its network, in a Domain too', async () => {
        const inside = { issuer: 'https://10.0.0.1', allow_private_network: true }
        const answer = await create(inside)
        expect(codeOf(answer)).toEqual([403, 'permission_denied'])
        expect(answer.body['missing_relation']).toMatchObject({ object: 'platform:main', relation: 'manage' })
        expect(await tenancy.audit(answer)).toMatchObject({ outcome: 'permission_denied', domainId })
        expect((await create(inside, tenancy.root)).status).toBe(201)
      })

      it('takes an alias and a primary once in a place, and again in another', async () => {
        await made({ alias: 'same', primary: true })
        expect(reasonOf(await create({ alias: 'same' }))).toEqual([
          409,
          'idp_binding_conflict',
          'another binding has this alias',
        ])
        expect(reasonOf(await create({ primary: true }))).toEqual([
          409,
          'idp_binding_conflict',
          'another binding is primary already; make it secondary first',
        ])
        const elsewhere = await tenancy.domain()
        await made({ alias: 'same', primary: true }, tenancy.root, `domain_id=${elsewhere}`)
        await shared({ alias: 'same', primary: true })
        expect(codeOf(await create({ alias: 'same' }, tenancy.root, 'scope=platform'))[1]).toBe('idp_binding_conflict')
        expect(codeOf(await create({ primary: true }, tenancy.root, 'scope=platform'))[1]).toBe('idp_binding_conflict')
      })

      it('takes an audience of an issuer once, wherever', async () => {
        const api = { api_audience: 'https://ctl.example' }
        await made(api)
        const elsewhere = await tenancy.domain()
        const again = await create({ ...api, alias: 'again' }, tenancy.root, `domain_id=${elsewhere}`)
        expect(reasonOf(again)).toEqual([
          409,
          'idp_binding_conflict',
          'another binding takes the same api_audience of this issuer',
        ])
        await made({ ...api, issuer: 'https://other.example' }, tenancy.root, `domain_id=${elsewhere}`)
      })

      it('takes an audience on the platform only where a claim names the Domain', async () => {
        const api = { api_audience: 'https://ctl.example' }
        expect(reasonOf(await create(api, tenancy.root, 'scope=platform'))).toEqual([
          400,
          'invalid_idp_binding',
          'a platform-shared binding takes an api_audience only where claims.domain names the Domain',
        ])
        await shared({ ...api, claims: { domain: 'tenant' } })
      })

      it('takes one that nobody signs in with where it has an audience and is not primary', async () => {
        const audience = { api_audience: 'https://ctl.example' }
        const answer = await create({ sign_in: false, ...audience })
        expect([answer.status, answer.body['sign_in']]).toEqual([201, false])
        expect(reasonOf(await create({ alias: 'b', sign_in: false }))).toEqual([
          400,
          'invalid_idp_binding',
          'a binding that nobody signs in with takes an api_audience: it is for access tokens',
        ])
        expect(reasonOf(await create({ alias: 'c', sign_in: false, primary: true, api_audience: 'other' }))).toEqual([
          400,
          'invalid_idp_binding',
          'a binding that nobody signs in with cannot be primary',
        ])
      })

      it('takes 50 bindings in a place', async () => {
        for (let index = 0; index < 50; index++) await made()
        expect(reasonOf(await create())).toEqual([409, 'idp_binding_conflict', 'there are 50 bindings already'])
        await shared()
      })

      it('takes one of two that would be primary at the same moment', async () => {
        for (let round = 0; round < 5; round++) {
          const place = `domain_id=${await tenancy.domain()}`
          const answers = await Promise.all([
            create({ alias: 'one', primary: true }, tenancy.root, place),
            create({ alias: 'two', primary: true }, tenancy.root, place),
          ])
          expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409])
        }
      })

      it('is one place: a manager of a Domain cannot name it to reach the platform', async () => {
        for (const query of [`domain_id=${domainId}&scope=platform`, '']) {
          expect(codeOf(await tenancy.call(admin, `POST /v1/admin/idp?${query}`, GOOGLE))).toEqual([
            400,
            'invalid_query',
          ])
          expect(codeOf(await tenancy.call(admin, `GET /v1/admin/idp?${query}`))).toEqual([400, 'invalid_query'])
        }
        expect(codeOf(await create({}, admin, 'scope=platform'))).toEqual([403, 'permission_denied'])
        expect(codeOf(await create({}, admin, 'scope=domain'))).toEqual([400, 'invalid_query'])
      })

      it('is refused to an operator and to managers of other Domains', async () => {
        const operator = await tenancy.holder(domainId, 'operator', `domain:${domainId}`)
        expect(codeOf(await create({}, operator))).toEqual([403, 'permission_denied'])
        const other = await tenancy.domain()
        expect(codeOf(await create({}, admin, `domain_id=${other}`))).toEqual([403, 'permission_denied'])
      })
    })

    describe('GetAdminIdP', () => {
      it('lists the bindings of one place by alias, page by page, inactive ones too', async () => {
        for (const alias of ['b', 'c', 'a']) await made({ alias })
        await shared({ alias: 'shared' })
        const list = (query: string, as = admin) => tenancy.call(as, `GET /v1/admin/idp?${query}`)
        const first = await list(`domain_id=${domainId}&limit=2`)
        expect(first.body['items']).toMatchObject([{ alias: 'a' }, { alias: 'b' }])
        const [a] = first.body['items'] as { id: string }[]
        await patch(String(a?.id), { active: false })
        const second = await list(`domain_id=${domainId}&limit=2&cursor=${String(first.body['next_cursor'])}`)
        expect(second.body).toMatchObject({ items: [{ alias: 'c' }], next_cursor: null })
        expect((await list(`domain_id=${domainId}`)).body['items']).toMatchObject([{ active: false }, {}, {}])
        expect((await list('scope=platform', tenancy.root)).body['items']).toMatchObject([
          { alias: 'shared', domain_id: null },
        ])
        expect(JSON.stringify(first.body)).not.toContain('hunter2')
        expect((await list('scope=platform')).status).toBe(403)
      })
    })

    describe('PatchAdminIdPByID', () => {
      it('changes what is named and nothing else, announces it and forgets the issuer', async () => {
        const id = await made({ alias: 'kept', claims: { groups: 'roles', email: 'mail' }, required_amr: ['mfa'] })
        tenancy.clock.nowMs += 1000
        const answer = await patch(id, { label: 'Other', claims: { groups: null }, required_amr: [] })
        tenancy.clock.nowMs -= 1000
        expect(answer.body).toMatchObject({
          alias: 'kept',
          label: 'Other',
          claims: { subject: 'sub', email: 'mail', groups: null },
          required_amr: [],
          created_at: '2026-03-01T08:00:00.000Z',
          updated_at: '2026-03-01T08:00:01.000Z',
        })
        expect(await tenancy.outbox(answer)).toMatchObject([
          { event: 'IdPBindingUpdated', payload: { active: true, sessions_revoked: 0 } },
        ])
        expect(await tenancy.audit(answer)).toMatchObject({ relation: 'idp_binding.update', domainId })
        expect(await secretOf(id)).toBe('hunter2')
        expect([watch.ended, watch.forgotten]).toEqual([[], ['https://accounts.google.com']])
      })

      it('replaces the secret, and takes it away for null', async () => {
        const id = await made()
        const replaced = await patch(id, { client_secret: 'correct horse' })
        expect(JSON.stringify(replaced.body)).not.toContain('correct horse')
        expect(await secretOf(id)).toBe('correct horse')
        expect((await patch(id, { client_secret: null })).body['client_secret_ref']).toBeNull()
        expect(await secretOf(id)).toBeUndefined()
      })

      it('does not send the secret to another issuer: one comes with it', async () => {
        const id = await made()
        const moved = { issuer: 'https://evil.example' }
        expect(reasonOf(await patch(id, moved))).toEqual([
          400,
          'invalid_idp_binding',
          'another issuer takes its own client_secret, or null: the one that is kept is not sent elsewhere',
        ])
        expect((await patch(id, { ...moved, client_secret: 'its own' })).status).toBe(200)
        expect(watch.ended).toEqual([id])
        expect(watch.forgotten).toEqual(['https://accounts.google.com', 'https://evil.example'])
      })

      it('ends the sessions that began with it once it is inactive, and says how many', async () => {
        const id = await made()
        const answer = await patch(id, { active: false })
        expect(answer.body['active']).toBe(false)
        expect(watch.ended).toEqual([id])
        expect(await tenancy.outbox(answer)).toMatchObject([{ payload: { active: false, sessions_revoked: 2 } }])
        await patch(id, { active: false })
        await patch(id, { active: true })
        expect(watch.ended).toEqual([id])
        expect((await patch(id, {})).status).toBe(400)
      })

      it('ends the sessions that began with it once nobody signs in with it', async () => {
        const id = await made({ api_audience: 'https://ctl.example' })
        expect((await patch(id, { sign_in: false })).body).toMatchObject({ sign_in: false, active: true })
        expect(watch.ended).toEqual([id])
        await patch(id, { active: false })
        expect(watch.ended).toEqual([id])
      })

      it('lets only who manages the platform open its network or move an issuer inside of it', async () => {
        const id = await made()
        expect(codeOf(await patch(id, { allow_private_network: true }))).toEqual([403, 'permission_denied'])
        expect((await patch(id, { allow_private_network: true }, tenancy.root)).status).toBe(200)
        expect((await patch(id, { label: 'Mine' })).status).toBe(200)
        const inside = { issuer: 'http://10.0.0.1', client_secret: null }
        expect(codeOf(await patch(id, inside))).toEqual([403, 'permission_denied'])
        expect((await patch(id, inside, tenancy.root)).status).toBe(200)
        expect((await patch(id, { issuer: 'https://idp.example', allow_private_network: false })).status).toBe(200)
      })

      it('holds a change to the rules of a new binding', async () => {
        const id = await made()
        const other = await made({ alias: 'other', primary: true })
        expect(codeOf(await patch(id, { api_audience: 'client' }))).toEqual([400, 'invalid_idp_binding'])
        expect(codeOf(await patch(id, { primary: true }))).toEqual([409, 'idp_binding_conflict'])
        expect(codeOf(await patch(id, { alias: 'other' }))).toEqual([409, 'idp_binding_conflict'])
        await patch(other, { active: false })
        expect((await patch(id, { primary: true })).status).toBe(200)
        expect(codeOf(await patch(other, { active: true }))).toEqual([409, 'idp_binding_conflict'])
      })

      it('leaves the bundled provider its own issuer and client', async () => {
        const id = await shared()
        await tenancy.db.updateTable('idp_bindings').set({ is_bundled: true }).where('id', '=', id).execute()
        for (const body of [
          { issuer: 'https://x.example', client_secret: 'x' },
          { client_id: 'x' },
          { client_secret: 'x' },
        ]) {
          expect(codeOf(await patch(id, body, tenancy.root))).toEqual([400, 'invalid_idp_binding'])
        }
        expect((await patch(id, { label: 'Here', required_amr: ['otp'] }, tenancy.root)).status).toBe(200)
      })

      it('does not exist for those who may not manage it, and leaves the row of a denial', async () => {
        const stranger = await tenancy.principal(tenancy.home)
        expect(codeOf(await patch(NOWHERE, { label: 'x' }, stranger))).toEqual([404, 'idp_binding_not_found'])
        const denied = await patch(await made(), { label: 'x' }, stranger)
        expect(codeOf(denied)).toEqual([404, 'idp_binding_not_found'])
        expect(await tenancy.audit(denied)).toMatchObject({
          outcome: 'permission_denied',
          object: `domain:${domainId}`,
        })
        expect(codeOf(await patch(await shared(), { label: 'x' }))).toEqual([404, 'idp_binding_not_found'])
        const problem = await patch(NOWHERE, { label: 'x' })
        expect(problem.body['type']).toMatch(/binding-not-found$|binding_not_found$/)
      })
    })

    describe('DeleteAdminIdPByID', () => {
      it('removes the binding, ends its sessions, announces and audits it', async () => {
        const id = await made()
        const answer = await tenancy.call(admin, `DELETE /v1/admin/idp/${id}`)
        expect(answer.status).toBe(204)
        expect(watch.ended).toEqual([id])
        expect(await tenancy.outbox(answer)).toMatchObject([
          { event: 'IdPBindingDeleted', domain_id: domainId, payload: { binding_id: id, sessions_revoked: 2 } },
        ])
        expect(await tenancy.audit(answer)).toMatchObject({ relation: 'idp_binding.delete', outcome: 'granted' })
        expect(await bindings.find(tenancy.db, id)).toBeUndefined()
      })
    })

    describe('PostAdminIdPTest', () => {
      it('walks a sign-in with the stored secret, says which step fails, and audits it', async () => {
        const idp = await startStubIssuer()
        const seen: string[] = []
        idp.on(DISCOVERY, discoveryOf(idp.url))
        idp.on('/keys', { keys: [RSA_KEY] })
        idp.on('/authorize', (_request: unknown, response: ServerResponse) => {
          response.writeHead(302, { location: `${CALLBACK_URL}?error=login_required` }).end()
        })
        idp.on('/token', (request: IncomingMessage, response: ServerResponse) => {
          seen.push(Buffer.from(String(request.headers.authorization).slice(6), 'base64').toString())
          response.writeHead(401).end(JSON.stringify({ error: 'invalid_client' }))
        })
        const id = await made({ issuer: idp.url, allow_private_network: true }, tenancy.root)
        const answer = await tenancy.call(admin, `POST /v1/admin/idp/${id}/test`)
        await idp.stop()
        expect(answer.status).toBe(200)
        expect(answer.body['passed']).toBe(false)
        const steps = answer.body['steps'] as { step: string; outcome: string }[]
        expect(steps.map(({ step, outcome }) => `${step} ${outcome}`)).toEqual([
          'discovery passed',
          'endpoints passed',
          'keys passed',
          'algorithms passed',
          'authorization passed',
          'client failed',
        ])
        expect(seen).toEqual(['client:hunter2'])
        expect(JSON.stringify(answer.body)).not.toContain('hunter2')
        expect(await tenancy.audit(answer)).toMatchObject({
          relation: 'idp_binding.test',
          object: `idp_binding:${id}`,
          outcome: 'granted',
          domainId,
        })
      })

      it('connects to nothing that is not public', async () => {
        const idp = await startStubIssuer()
        const id = await made({ issuer: idp.url.replace('http:', 'https:') })
        const answer = await tenancy.call(admin, `POST /v1/admin/idp/${id}/test`)
        expect(answer.body['steps']).toMatchObject([
          {
            step: 'discovery',
            outcome: 'failed',
            says: expect.stringMatching(
              /^127\.0\.0\.1 is not at a public address; who manages .* allow_private_network$/,
            ),
          },
          { outcome: 'skipped' },
          { outcome: 'skipped' },
          { outcome: 'skipped' },
          { outcome: 'skipped' },
          { outcome: 'skipped' },
        ])
        expect(idp.connections()).toBe(0)
        await idp.stop()
      })
    })

    describe('GetAuthIdPBindings', () => {
      it('offers the active bindings of a Domain, the primary first, as anybody may see them', async () => {
        await made({ alias: 'b', claims: { groups: 'secret-claim' }, required_acr: ['gold'] })
        const primary = await made({ alias: 'c', primary: true, issuer: 'https://idp.example:8443/realm' })
        await patch(await made({ alias: 'a' }), { active: false })
        await made({ alias: 'd' })
        await shared({ alias: 'shared' })
        const answer = await offered(domainId)
        expect(answer.status).toBe(200)
        expect(answer.headers.get('cache-control')).toBe('no-store')
        expect(answer.body).toMatchObject([{ alias: 'c' }, { alias: 'b' }, { alias: 'd' }])
        expect((answer.body as unknown as object[])[0]).toEqual({
          id: primary,
          alias: 'c',
          label: 'Google',
          issuer_host: 'idp.example:8443',
          primary: true,
          platform_scoped: false,
        })
        expect(JSON.stringify(answer.body)).not.toMatch(/hunter2|sealed|secret-claim|gold|client/)
      })

      it("falls back to the platform's only for a Domain without active ones", async () => {
        const [second, first] = [await shared({ alias: 'a' }), await shared({ alias: 'z', primary: true })]
        const ids = async (of: string) => ((await offered(of)).body as unknown as { id: string }[]).map(({ id }) => id)
        expect(await ids(domainId)).toEqual([first, second])
        const own = await made()
        expect(await ids(domainId)).toEqual([own])
        await patch(own, { active: false })
        expect(await ids(domainId)).toEqual([first, second])
      })

      it('leaves out what nobody signs in with, which neither is chosen nor keeps the shared ones away', async () => {
        const common = await shared({ alias: 'common' })
        const github = await made({ alias: 'github', sign_in: false, api_audience: 'https://ctl.example' })
        expect((await offered(domainId)).body).toMatchObject([{ id: common }])
        const { choose, find } = bindings
        expect(await choose(tenancy.db, { domain_id: domainId })).toMatchObject({ binding: { id: common } })
        const named = { domain_id: domainId, idp_binding_id: github }
        await expect(choose(tenancy.db, named)).rejects.toMatchObject({ code: 'idp_binding_not_found' })
        expect(await find(tenancy.db, github)).toBeUndefined()
        const taking = await bindings.ofIssuer(tenancy.db, {
          issuer: GOOGLE.issuer,
          audiences: ['https://ctl.example'],
        })
        expect(taking.map(({ id }) => id)).toEqual([github])
      })

      it('answers an unknown Domain and one without bindings in the same bytes', async () => {
        const text = async (of: string) => JSON.stringify((await offered(of)).body)
        expect([await text(domainId), await text(NOWHERE)]).toEqual(['[]', '[]'])
        await shared({ alias: 'shared' })
        expect(await text(domainId)).toBe(await text(NOWHERE))
        const headers = async (of: string) => [...(await offered(of)).headers.keys()]
        expect(await headers(domainId)).toEqual(await headers(NOWHERE))
      })

      it.each(['', 'domain_id=', 'domain_id=home', 'domain_id=00000000-0000-0000-0000-000000000000'])(
        'refuses the query %j',
        async (query) => {
          const answer = await tenancy.call('nobody', `GET /v1/auth/idp-bindings?${query}`)
          expect(codeOf(answer)).toEqual([400, 'invalid_domain_id'])
        },
      )
    })

    describe('choosing where to sign in', () => {
      const chosen = async (where: WhereToSignIn) => (await bindings.choose(tenancy.db, where)).binding.id
      const refused = (where: WhereToSignIn) =>
        bindings.choose(tenancy.db, where).then(
          () => 'chosen',
          (error: { code: string }) => error.code,
        )

      it('takes the id, then the alias, then the primary, then the only one', async () => {
        const one = await made({ alias: 'one' })
        const at = { domain_id: domainId }
        expect(await chosen(at)).toBe(one)
        const two = await made({ alias: 'two', primary: true })
        expect(await chosen(at)).toBe(two)
        expect(await chosen({ ...at, idp_binding_alias: 'one' })).toBe(one)
        expect(await chosen({ ...at, idp_binding_id: one, idp_binding_alias: 'two' })).toBe(one)
      })

      it('refuses to guess among several', async () => {
        await made({ alias: 'one' })
        await made({ alias: 'two' })
        expect(await refused({ domain_id: domainId })).toBe('multiple-bindings')
      })

      it('knows a Domain by its slug, or by its binding, or as the only one', async () => {
        const other = await tenancy.domain('acme')
        const theirs = await made({ alias: 'theirs' }, tenancy.root, `domain_id=${other}`)
        expect(await bindings.choose(tenancy.db, { domain: 'acme' })).toMatchObject({ domainId: other })
        expect(await bindings.choose(tenancy.db, { idp_binding_id: theirs })).toMatchObject({ domainId: other })
        expect(await refused({ domain: 'acme', domain_id: domainId })).toBe('idp_binding_not_found')
      })

      it('asks for a Domain where there are several and none is named, and tells no name', async () => {
        const common = await shared({ alias: 'common' })
        await tenancy.domain('very-secret')
        for (const where of [{}, { idp_binding_alias: 'common' }, { idp_binding_id: common }]) {
          expect([where, await refused(where)]).toEqual([where, 'domain_required'])
        }
        expect(await refused({ idp_binding_id: NOWHERE })).toBe('idp_binding_not_found')
        expect(await refused({ domain: 'nowhere' })).toBe('idp_binding_not_found')
        expect(await refused({ domain_id: domainId })).toBe('chosen')
      })

      it('offers the shared ones of the platform where the Domain has none, and never beside its own', async () => {
        const common = await shared({ alias: 'common' })
        expect(await bindings.choose(tenancy.db, { domain_id: domainId })).toMatchObject({
          domainId,
          binding: { id: common, domainId: null },
        })
        await made({ alias: 'own' })
        expect(await refused({ domain_id: domainId, idp_binding_id: common })).toBe('idp_binding_not_found')
        expect(await refused({ domain_id: domainId, idp_binding_alias: 'common' })).toBe('alias-not-found')
      })

      it('finds nothing of another Domain, nothing inactive and nothing unknown', async () => {
        const elsewhere = await tenancy.domain()
        const foreign = await made({}, tenancy.root, `domain_id=${elsewhere}`)
        const off = await made({ alias: 'off' })
        await patch(off, { active: false })
        for (const idp_binding_id of [foreign, off, NOWHERE]) {
          expect(await refused({ domain_id: domainId, idp_binding_id })).toBe('idp_binding_not_found')
        }
        expect(await refused({ domain_id: domainId, idp_binding_alias: 'off' })).toBe('alias-not-found')
        expect(await refused({ domain_id: domainId })).toBe('idp_binding_not_found')
        expect(await refused({ domain_id: NOWHERE })).toBe('idp_binding_not_found')
      })

      it('finds the bindings that take access tokens of an issuer', async () => {
        const { issuer } = GOOGLE
        await made()
        const [one, two] = [await made({ api_audience: 'one' }), await made({ api_audience: 'two' })]
        await patch(await made({ api_audience: 'off' }), { active: false })
        await made({ api_audience: 'one', issuer: 'https://other.example' })
        const found = await bindings.ofIssuer(tenancy.db, { issuer, audiences: ['one', 'off', 'three', 'two'] })
        expect(found.map(({ id, apiAudience }) => [id, apiAudience])).toEqual([
          [one, 'one'],
          [two, 'two'],
        ])
        const only = await bindings.ofIssuer(tenancy.db, { issuer, audiences: ['two'] })
        expect(only.map(({ id }) => id)).toEqual([two])
        expect(await bindings.ofIssuer(tenancy.db, { issuer, audiences: [] })).toEqual([])
      })
    })
  })
})
