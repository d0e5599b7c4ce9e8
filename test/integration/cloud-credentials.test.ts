import { sql } from 'kysely'
import pino from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { mounted } from '../../src/server/http/request-context.ts'
import type { LentCredentials } from '../../src/server/ports/lent-credentials.ts'
import { createSecretsReconcile } from '../../src/server/secrets/reconcile.ts'
import { createSecretWrites } from '../../src/server/secrets/secret-writes.ts'
import { createCloudCredentials } from '../../src/server/slices/cloud-credentials/service.ts'
import { cloudCredentials } from '../../src/shared/contract/cloud-credentials.ts'
import { unfenced } from '../support/datastores/leading.ts'
import { STORES } from '../support/datastores/stores.ts'
import { ownedVersions } from '../support/secrets/owned-versions.ts'
import { scriptedStore, type ScriptedStore, type Step } from '../support/secrets/scripted-store.ts'
import type { Answer } from '../support/server/control-plane.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const TOKEN = 'correct-horse-battery'
const LEASE_MS = 120_000
const DAY_MS = 86_400_000

describe.each(STORES)('Credentials of Clouds on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let tenancy: Tenancy
    let secretStore: ScriptedStore
    let cloudId: string
    const lent = new Set<string>()
    const ended: string[] = []
    const logged: string[] = []
    const lentCredentials: LentCredentials = {
      isLent: async (_db, id) => lent.has(id),
      end: async (_change, id) => void ended.push(id),
    }

    beforeAll(async () => {
      const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
      tenancy = await startTenancy(store, (backend) => {
        secretStore = scriptedStore(backend.secretStore)
        const secretWrites = createSecretWrites({ ...backend, secretStore })
        const handlers = createCloudCredentials({ ...backend, secretWrites, lentCredentials })
        return { surfaces: ['clouds', mounted(cloudCredentials, handlers)], log }
      })
      cloudId = await cloud('hetzner', {})
    })
    afterEach(async () => {
      secretStore.failsAt(undefined)
      await settle()
      const { owned, stored } = await ownedVersions(tenancy.db)
      expect(stored).toEqual(owned)
      expect(await tenancy.db.selectFrom('secret_intents').selectAll().execute()).toEqual([])
      await expectNowhere(TOKEN)
    })
    afterAll(() => tenancy.stop())

    const codeOf = ({ status, body }: Answer) => [status, body['code']]
    const root = (operation: string, body?: unknown) => tenancy.call(tenancy.root, operation, body)
    const create = (members: object = {}, of = cloudId) =>
      root(`POST /v1/clouds/${of}/credentials`, { display_name: 'Production', secret: { token: TOKEN }, ...members })
    const at = (id: unknown) => `/v1/cloud-credentials/${String(id)}`
    const rotate = (id: unknown, token = `${TOKEN}-2`) => root(`POST ${at(id)}/rotate`, { secret: { token } })
    const revoke = (id: unknown, reason: unknown = 'It leaked') => root(`POST ${at(id)}/revoke`, { reason })
    const patch = (id: unknown, body: unknown) => root(`PATCH ${at(id)}`, body)
    const secretOf = async (id: unknown, version?: number) =>
      (await secretStore.get(`cloud-credentials/${String(id)}`, version))?.toString('utf8')

    async function cloud(provider: string, endpoint: object): Promise<string> {
      const packages = [{ source: 'oci://registry.example/provider', version: 'v1' }]
      const mode = { provider_packages: packages, provider_config_api_version: 'v1' }
      const slug = `c-${tenancy.ids.next()}`
      const { status, body } = await root('POST /v1/clouds', {
        slug,
        display_name: 'A Cloud',
        provider,
        endpoint,
        ...mode,
      })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return String(body['id'])
    }

    async function settle(): Promise<void> {
      tenancy.clock.nowMs += LEASE_MS
      await createSecretsReconcile({ ...tenancy, secretStore }).run(unfenced(tenancy))
    }

    /** No table and no line of the log has the text. */
    async function expectNowhere(text: string): Promise<void> {
      expect(logged.filter((line) => line.includes(text))).toEqual([])
      const { rows } = await sql<{ name: string }>`
        select tablename as name from pg_tables where schemaname = 'public'`.execute(tenancy.db)
      for (const { name } of rows) {
        const { rows: found } = await sql`
          select 1 from ${sql.table(name)} as one where one::text like ${`%${text}%`}`.execute(tenancy.db)
        expect([name, found]).toEqual([name, []])
      }
    }

    it('CreateCloudCredential stores it, hangs it off its Cloud, announces and audits it, and shows no secret', async () => {
      const answer = await create({ expires_at: '2030-01-01T02:00:00+02:00' })
      expect(answer.status).toBe(201)
      const id = String(answer.body['id'])
      const createdAt = new Date(tenancy.clock.nowMs).toISOString()
      expect(answer.headers.get('location')).toBe(`/v1/cloud-credentials/${id}`)
      expect(answer.body).toEqual({
        id,
        cloud_id: cloudId,
        display_name: 'Production',
        state: 'active',
        expires_at: '2030-01-01T00:00:00.000Z',
        secret_version: 1,
        rotated_at: null,
        revoked_by: null,
        revoked_reason: null,
        created_at: createdAt,
        updated_at: createdAt,
      })
      expect(await secretOf(id)).toBe(JSON.stringify({ token: TOKEN }))
      expect(await tenancy.tuplesOf(`cloudcredential:${id}`)).toEqual([`cloud:${cloudId} cloud cloudcredential:${id}`])
      const payload = { cloud_credential_id: id, cloud_id: cloudId, display_name: 'Production' }
      expect(await tenancy.outbox(answer)).toEqual([
        { event: 'CloudCredentialCreated', domain_id: null, aggregate: `cloudcredential:${id}`, payload },
      ])
      expect(await tenancy.audit(answer)).toMatchObject({
        relation: 'cloud_credential.create',
        object: `cloudcredential:${id}`,
        outcome: 'granted',
        domainId: null,
      })
      expect((await root(`GET ${at(id)}`)).body).toEqual(answer.body)
      expect((await root(`GET /v1/clouds/${cloudId}/credentials`)).body['items']).toContainEqual(answer.body)
    })

    describe('a secret', () => {
      const UUID = '019c1a10-0000-7000-8000-000000110001'
      const PROVIDERS = {
        aws: { account_id: '123456789012' },
        azure: { tenant_id: UUID, subscription_id: UUID },
        gcp: { project_id: 'my-project-1' },
        hetzner: {},
        openstack: { auth_url: 'https://keystone.example/v3', project_id: 'p' },
      }
      const clouds: Record<string, string> = {}
      beforeAll(async () => {
        for (const [provider, endpoint] of Object.entries(PROVIDERS)) clouds[provider] = await cloud(provider, endpoint)
      })

      const ROLE = 'arn:aws:iam::123456789012:role/ctl'
      it.each([
        ['aws', { access_key_id: 'AKIA', secret_access_key: TOKEN }],
        ['aws', { role_arn: ROLE }],
        ['aws', { role_arn: ROLE, external_id: 'x' }],
        ['azure', { client_id: UUID, client_secret: TOKEN }],
        ['gcp', { service_account_key: { type: 'service_account', client_email: 'a@b', private_key: TOKEN, more: 1 } }],
        ['hetzner', { token: TOKEN }],
        ['openstack', { application_credential_id: 'i', application_credential_secret: TOKEN }],
      ])('of %s is taken as %j', async (provider, secret) => {
        const answer = await create({ secret }, clouds[provider])
        expect(answer.status).toBe(201)
        expect(JSON.parse((await secretOf(answer.body['id'])) ?? '')).toEqual(secret)
      })

      it.each([
        ['aws', {}],
        ['aws', { access_key_id: 'AKIA' }],
        ['aws', { access_key_id: 'AKIA', secret_access_key: TOKEN, role_arn: ROLE }],
        ['aws', { role_arn: TOKEN }],
        ['azure', { client_id: TOKEN, client_secret: TOKEN }],
        ['azure', { client_id: UUID, client_secret: ' ' }],
        ['gcp', { service_account_key: TOKEN }],
        ['gcp', { service_account_key: {} }],
        ['hetzner', { token: '' }],
        ['hetzner', { token: 'x', [TOKEN]: 'x' }],
        ['hetzner', { access_key_id: 'AKIA', secret_access_key: TOKEN }],
        ['openstack', { application_credential_id: 'i' }],
      ])('of %s is refused as %j, without repeating it', async (provider, secret) => {
        const answer = await create({ secret }, clouds[provider])
        expect(codeOf(answer)).toEqual([400, 'invalid_cloud_credential'])
        expect(answer.body['errors']).toEqual([{ pointer: '/secret', detail: expect.stringMatching(/^must have /) }])
        expect(JSON.stringify(answer.body)).not.toContain(TOKEN)
      })

      it.each([
        ['no secret', { secret: undefined }, 'invalid_cloud_credential'],
        ['a text as secret', { secret: TOKEN }, 'invalid_cloud_credential'],
        ['a list as secret', { secret: [TOKEN] }, 'invalid_cloud_credential'],
        ['a blank name', { display_name: ' ' }, 'invalid_cloud_credential'],
        ['an end in the past', { expires_at: '2020-01-01T00:00:00Z' }, 'invalid_cloud_credential'],
        [
          'an end at this very moment',
          { expires_at: () => new Date(tenancy.clock.nowMs).toISOString() },
          'invalid_cloud_credential',
        ],
        ['an end that is no instant', { expires_at: 'tomorrow' }, 'invalid_cloud_credential'],
        ['a state', { state: 'active' }, 'invalid_cloud_credential'],
      ])('goes with a body that is refused for %s', async (_title, members, code) => {
        const resolved = Object.fromEntries(
          Object.entries(members).map(([name, value]) => [name, typeof value === 'function' ? value() : value]),
        )
        const answer = await create(resolved)
        expect(codeOf(answer)).toEqual([400, code])
        expect(JSON.stringify(answer.body)).not.toContain(TOKEN)
      })

      it('makes a body of 16 KiB at most', async () => {
        expect(codeOf(await create({ secret: { token: 'a'.repeat(17_000) } }))).toEqual([413, 'request_body_too_large'])
        expect((await create({ secret: { token: 'a'.repeat(12_000) } })).status).toBe(201)
      })
    })

    describe('who may do what', () => {
      let id: string
      let stranger: string
      let viewer: string
      let assigner: string
      beforeAll(async () => {
        id = String((await create()).body['id'])
        stranger = await tenancy.principal(tenancy.home)
        viewer = await tenancy.holder(tenancy.home, 'viewer', `cloud:${cloudId}`)
        assigner = await tenancy.holder(tenancy.home, 'assigner', `cloudcredential:${id}`)
      })

      const OPERATIONS = (of: string): readonly (readonly [string, unknown?])[] => [
        [`PATCH ${at(of)}`, { display_name: 'Mine' }],
        [`DELETE ${at(of)}`],
        [`POST ${at(of)}/rotate`, { secret: { token: 'x' } }],
        [`POST ${at(of)}/revoke`, { reason: 'x' }],
      ]
      const sameFor = async (as: string, operation: string, body?: unknown) => {
        const { status, body: said } = await tenancy.call(as, operation, body)
        return { status, ...said, correlation_id: undefined, instance: undefined }
      }

      it('a stranger gets the answer of an unknown id, to the byte', async () => {
        const calls = [[`GET ${at(id)}`] as const, ...OPERATIONS(id)]
        const unknown = [[`GET ${at(NOWHERE)}`] as const, ...OPERATIONS(NOWHERE)]
        for (const [index, [operation, body]] of calls.entries()) {
          const refused = await sameFor(stranger, operation, body)
          const [other = '', otherBody] = unknown[index] ?? []
          expect(refused).toEqual(await sameFor(stranger, other, otherBody))
          expect(refused).toMatchObject({ status: 404, code: 'cloud_credential_not_found' })
        }
        for (const [operation, body] of unknown)
          expect(await sameFor(tenancy.root, operation, body)).toMatchObject({ code: 'cloud_credential_not_found' })
      })

      it('a viewer of the Cloud reads it, and is refused the rest', async () => {
        expect((await tenancy.call(viewer, `GET ${at(id)}`)).status).toBe(200)
        for (const [operation, body] of OPERATIONS(id)) {
          const answer = await tenancy.call(viewer, operation, body)
          expect(answer.body).toMatchObject({ status: 403, code: 'permission_denied' })
          expect(await tenancy.audit(answer)).toMatchObject({ outcome: 'permission_denied' })
        }
        expect(codeOf(await tenancy.call(viewer, `POST /v1/clouds/${cloudId}/credentials`, {}))).toEqual([
          403,
          'permission_denied',
        ])
      })

      it('an assigner of the credential alone manages it, and sees no other of the Cloud', async () => {
        const other = String((await create()).body['id'])
        expect((await tenancy.call(assigner, `PATCH ${at(id)}`, { display_name: 'Renamed' })).status).toBe(200)
        expect(codeOf(await tenancy.call(assigner, `GET ${at(other)}`))).toEqual([404, 'cloud_credential_not_found'])
        expect(codeOf(await tenancy.call(assigner, `GET /v1/clouds/${cloudId}/credentials`))).toEqual([
          403,
          'permission_denied',
        ])
      })

      it.each(['GET', 'PATCH', 'DELETE'])('%s refuses the zero UUID', async (method) => {
        const zero = '00000000-0000-0000-0000-000000000000'
        expect(
          codeOf(await root(`${method} ${at(zero)}`, method === 'PATCH' ? { display_name: 'x' } : undefined)),
        ).toEqual([400, 'invalid_cloud_credential_id'])
      })
    })

    describe('states', () => {
      let id: string
      beforeEach(async () => {
        id = String((await create()).body['id'])
      })
      const stateOf = async () => (await root(`GET ${at(id)}`)).body['state']
      const inDays = (days: number) => new Date(tenancy.clock.nowMs + days * DAY_MS).toISOString()

      it('active and suspended follow each other, and themselves', async () => {
        for (const state of ['suspended', 'suspended', 'active', 'active']) {
          const answer = await patch(id, { state })
          expect(answer.body).toMatchObject({ state })
          expect(await tenancy.outbox(answer)).toMatchObject([{ event: 'CloudCredentialUpdated', payload: { state } }])
        }
      })

      it('expired follows from the time, and a later end ends it', async () => {
        await patch(id, { expires_at: inDays(1) })
        expect(await stateOf()).toBe('active')
        tenancy.clock.nowMs += DAY_MS - 1
        expect(await stateOf()).toBe('active')
        tenancy.clock.nowMs += 1
        expect(await stateOf()).toBe('expired')
        expect(codeOf(await patch(id, { state: 'active' }))).toEqual([409, 'illegal_transition'])
        expect((await patch(id, { display_name: 'Old' })).body['state']).toBe('expired')
        expect((await patch(id, { state: 'suspended', expires_at: inDays(1) })).body['state']).toBe('suspended')
        expect((await patch(id, { state: 'active', expires_at: null })).body).toMatchObject({
          state: 'active',
          expires_at: null,
        })
      })

      it('revoked is final, ends what is lent, and keeps who and why', async () => {
        const answer = await revoke(id, ' It leaked ')
        expect(answer.body).toMatchObject({ state: 'revoked', revoked_by: tenancy.root, revoked_reason: ' It leaked ' })
        expect(ended).toContain(id)
        expect(await tenancy.outbox(answer)).toMatchObject([{ event: 'CloudCredentialRevoked' }])
        for (const again of [
          await revoke(id),
          await rotate(id),
          await patch(id, { state: 'active' }),
          await patch(id, { expires_at: null }),
        ])
          expect(codeOf(again)).toEqual([409, 'illegal_transition'])
        expect((await patch(id, { display_name: 'Revoked one' })).body).toMatchObject({ state: 'revoked' })
      })

      it.each([
        ['nothing', {}],
        ['an empty one', { reason: '' }],
        ['a blank one', { reason: ' \n\t ' }],
        ['1025 characters', { reason: 'a'.repeat(1025) }],
        ['no text', { reason: 7 }],
      ])('a revocation is refused with %s as reason', async (_title, body) => {
        const answer = await root(`POST ${at(id)}/revoke`, body)
        expect(codeOf(answer)).toEqual([400, 'invalid_decision_reason'])
        expect(await stateOf()).toBe('active')
      })

      it('a revocation takes 1024 characters, and one', async () => {
        expect((await revoke(id, 'a'.repeat(1024))).status).toBe(200)
        expect((await revoke((await create()).body['id'], 'a')).status).toBe(200)
      })

      it.each([
        ['revoked', { state: 'revoked' }],
        ['expired', { state: 'expired' }],
        ['no state', { state: null }],
        ['the secret', { secret: { token: 'x' } }],
        ['an end in the past', { expires_at: '2020-01-01T00:00:00Z' }],
      ])('a patch to %s is refused', async (_title, body) => {
        expect(codeOf(await patch(id, body))).toEqual([400, 'invalid_cloud_credential'])
      })

      it('twenty revocations at once have one winner', async () => {
        const answers = await Promise.all(Array.from({ length: 20 }, () => revoke(id)))
        expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 409)])
      })
    })

    describe('RotateCloudCredential', () => {
      it('keeps the id, and destroys the old secret behind', async () => {
        const { body } = await create()
        const answer = await rotate(body['id'])
        const rotated_at = new Date(tenancy.clock.nowMs).toISOString()
        expect(answer.body).toMatchObject({ id: body['id'], secret_version: 2, rotated_at })
        expect(await tenancy.outbox(answer)).toMatchObject([
          { event: 'CloudCredentialRotated', payload: { cloud_credential_id: body['id'], secret_version: 2 } },
        ])
        await settle()
        expect([await secretOf(body['id'], 1), await secretOf(body['id'])]).toEqual([
          undefined,
          JSON.stringify({ token: `${TOKEN}-2` }),
        ])
      })

      const STEPS: readonly Step[] = ['before newest', 'before put', 'after put']
      it.each(STEPS)('is undone whole where the store fails %s, and works at once when it is back', async (step) => {
        for (const fault of ['unreachable', 'timeout', 'sealed', 'full'] as const) {
          const { body } = await create()
          secretStore.failsAt(step, fault)
          const refused = await rotate(body['id'])
          expect(codeOf(refused)).toEqual([503, 'secret_store_unavailable'])
          expect(JSON.stringify(refused.body)).not.toContain(TOKEN)
          secretStore.failsAt(undefined)
          expect((await root(`GET ${at(body['id'])}`)).body).toEqual(body)
          expect(await secretOf(body['id'], 1)).toBe(JSON.stringify({ token: TOKEN }))
          expect((await rotate(body['id'])).status).toBe(200)
        }
      })

      it('is refused where the credential is revoked or deleted meanwhile', async () => {
        for (const [meanwhile, code] of [
          [revoke, 'illegal_transition'],
          [(id: unknown) => root(`DELETE ${at(id)}`), 'cloud_credential_not_found'],
        ] as const) {
          const { body } = await create()
          secretStore.once('after put', () => meanwhile(body['id']))
          expect((await rotate(body['id'])).body['code']).toBe(code)
        }
      })

      it('ten at once: each is whole or refused, and the versions count the whole ones', async () => {
        const { body } = await create()
        const answers = await Promise.all(Array.from({ length: 10 }, (_, one) => rotate(body['id'], `${TOKEN}-${one}`)))
        const whole = answers.filter(({ status }) => status === 200)
        for (const answer of answers)
          if (answer.status !== 200) expect(codeOf(answer)).toEqual([409, 'secret_write_in_progress'])
        expect(whole.length).toBeGreaterThan(0)
        const { secret_version: last } = (await root(`GET ${at(body['id'])}`)).body
        expect(last).toBe(Math.max(...whole.map((answer) => Number(answer.body['secret_version']))))
      })
    })

    describe('CreateCloudCredential', () => {
      it.each(['before newest', 'before put', 'after put'] as const)(
        'leaves nothing where the store fails %s',
        async (step) => {
          const of = await cloud('hetzner', {})
          secretStore.failsAt(step)
          expect(codeOf(await create({}, of))).toEqual([503, 'secret_store_unavailable'])
          secretStore.failsAt(undefined)
          expect((await root(`GET /v1/clouds/${of}/credentials`)).body['items']).toEqual([])
          expect((await root(`DELETE /v1/clouds/${of}`)).status).toBe(204)
        },
      )

      it('leaves nothing where the Cloud is deleted meanwhile', async () => {
        const of = await cloud('hetzner', {})
        secretStore.once('after put', () => root(`DELETE /v1/clouds/${of}`))
        expect(codeOf(await create({}, of))).toEqual([404, 'cloud_not_found'])
      })

      it('keeps its Cloud from being deleted, whatever its state', async () => {
        const of = await cloud('hetzner', {})
        const { body } = await create({}, of)
        await revoke(body['id'])
        expect((await root(`DELETE /v1/clouds/${of}`)).body).toMatchObject({
          code: 'cloud_not_empty',
          counts: { cloud_credentials: 1 },
        })
        expect((await root(`DELETE ${at(body['id'])}`)).status).toBe(204)
        expect((await root(`DELETE /v1/clouds/${of}`)).status).toBe(204)
      })
    })

    describe('DeleteCloudCredential', () => {
      it('takes the row, the tuples and, behind them, the secret', async () => {
        const { body } = await create()
        const id = String(body['id'])
        await tenancy.holder(tenancy.home, 'assigner', `cloudcredential:${id}`)
        const answer = await root(`DELETE ${at(id)}`)
        expect(answer.status).toBe(204)
        expect(await tenancy.outbox(answer)).toMatchObject([{ event: 'CloudCredentialDeleted' }])
        expect(await tenancy.tuplesOf(`cloudcredential:${id}`)).toEqual([])
        await settle()
        expect(await secretOf(id)).toBeUndefined()
        expect(codeOf(await root(`DELETE ${at(id)}`))).toEqual([404, 'cloud_credential_not_found'])
      })

      it('is refused while a Project has it', async () => {
        const { body } = await create()
        lent.add(String(body['id']))
        expect(codeOf(await root(`DELETE ${at(body['id'])}`))).toEqual([409, 'cloud_credential_in_use'])
        lent.clear()
        expect((await root(`GET ${at(body['id'])}`)).status).toBe(200)
      })
    })

    it('lists the credentials of its Cloud alone, oldest first, by pages', async () => {
      const of = await cloud('hetzner', {})
      const ids: unknown[] = []
      for (const display_name of ['one', 'two', 'three']) ids.push((await create({ display_name }, of)).body['id'])
      const first = await root(`GET /v1/clouds/${of}/credentials?limit=2`)
      const next = await root(`GET /v1/clouds/${of}/credentials?limit=2&cursor=${String(first.body['next_cursor'])}`)
      const listed = [first, next].flatMap(({ body }) => (body['items'] as { id: string }[]).map(({ id }) => id))
      expect(listed).toEqual(ids)
    })
  })
})
