import { sql } from 'kysely'
import pino from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createSecretsReconcile } from '../../src/server/secrets/reconcile.ts'
import { createSecretWrites } from '../../src/server/secrets/secret-writes.ts'
import { mounted } from '../../src/server/http/request-context.ts'
import type { SecretUser } from '../../src/server/ports/secret-users.ts'
import { createSecrets } from '../../src/server/slices/secrets/service.ts'
import { secrets } from '../../src/shared/contract/secrets.ts'
import { unfenced } from '../support/datastores/leading.ts'
import { STORES } from '../support/datastores/stores.ts'
import { ownedVersions } from '../support/secrets/owned-versions.ts'
import { scriptedStore, type ScriptedStore, type Step } from '../support/secrets/scripted-store.ts'
import type { Answer } from '../support/server/control-plane.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'

const VALUE = 'correct-horse-battery'
const LEASE_MS = 120_000

describe.each(STORES)('Secrets of Projects on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let tenancy: Tenancy
    let secretStore: ScriptedStore
    let users: SecretUser[]
    let domainId: string
    let projectId: string
    let admin: string
    let deployer: string
    const logged: string[] = []

    beforeAll(async () => {
      const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
      tenancy = await startTenancy(store, (backend) => {
        secretStore = scriptedStore(backend.secretStore)
        const secretWrites = createSecretWrites({ ...backend, secretStore })
        const secretUsers = [{ find: async () => users }]
        const handlers = createSecrets({ ...backend, secretWrites, secretUsers })
        return { surfaces: [mounted(secrets, handlers)], log }
      })
      domainId = await tenancy.domain()
      projectId = await tenancy.project(domainId)
      admin = await tenancy.holder(domainId, 'admin', `project:${projectId}`)
      deployer = await tenancy.holder(domainId, 'deployer', `project:${projectId}`)
    })
    beforeAll(() => {
      users = []
    })
    afterEach(async () => {
      users = []
      secretStore.failsAt(undefined)
      await settle()
      const { owned, stored } = await ownedVersions(tenancy.db)
      expect(stored).toEqual(owned)
      expect(await intents()).toEqual([])
      await expectNowhere(VALUE)
    })
    afterAll(() => tenancy.stop())

    const at = (name: string, project = projectId) => `/v1/projects/${project}/secrets/${name}`
    const put = (name: string, value: string = VALUE) => tenancy.call(admin, `PUT ${at(name)}`, { value })
    const show = (name: string) => tenancy.call(deployer, `GET ${at(name)}`)
    const remove = (name: string, query = '') => tenancy.call(admin, `DELETE ${at(name)}${query}`)
    const codeOf = ({ status, body }: Answer) => [status, body['code']]
    const versionsOf = async (name: string) => {
      const { body } = await show(name)
      return (body['versions'] as { version: number }[] | undefined)?.map(({ version }) => version)
    }
    const intents = () => tenancy.db.selectFrom('secret_intents').select(['owner', 'kind', 'version']).execute()
    const valueOf = async (id: unknown, version?: number) =>
      (await secretStore.get(`project-secrets/${String(id)}`, version))?.toString('utf8')

    /** Lets every lease end, and runs the leader's job. */
    async function settle(): Promise<void> {
      tenancy.clock.nowMs += LEASE_MS
      const job = createSecretsReconcile({ ...tenancy, secretStore })
      await job.run(unfenced(tenancy))
    }

    /** No table and no line of the log has the text: only sealed bytes have it. */
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

    describe('PutSecret', () => {
      it('writes versions, announces and audits them, and shows no value', async () => {
        const first = await put('registry')
        expect(first.status).toBe(200)
        const id = String(first.body['id'])
        const created_at = new Date(tenancy.clock.nowMs).toISOString()
        const version = { created_by: admin, created_at }
        expect(first.body).toEqual({
          id,
          project_id: projectId,
          name: 'registry',
          latest_version: 1,
          versions: [{ version: 1, ...version }],
          users: [],
          created_at,
          updated_at: created_at,
        })
        const second = await put('registry', `${VALUE}-2`)
        expect(second.body).toMatchObject({ id, latest_version: 2, versions: [{ version: 1 }, { version: 2 }] })
        expect([await valueOf(id, 1), await valueOf(id, 2)]).toEqual([VALUE, `${VALUE}-2`])
        expect(await tenancy.outbox(second)).toEqual([
          {
            event: 'SecretVersionCreated',
            domain_id: domainId,
            aggregate: `secret:${id}`,
            payload: { secret_id: id, project_id: projectId, name: 'registry', version: 2 },
          },
        ])
        expect(await tenancy.audit(second)).toEqual({
          relation: 'secret.write',
          object: `secret:${id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId,
        })
      })

      it.each([
        ['64 KiB of ASCII', 'a'.repeat(65_536), 200],
        ['64 KiB of four-byte characters', '😀'.repeat(16_384), 200],
        ['64 KiB of escaped characters', '\u0001'.repeat(65_536), 200],
        ['one byte more', 'a'.repeat(65_537), 400],
        ['one character more in UTF-8 than in UTF-16', `${'a'.repeat(65_535)}é`, 400],
        ['nothing', '', 400],
      ])('takes a value of up to 64 KiB of UTF-8: %s', async (_title, value, status) => {
        const name = `v-${tenancy.ids.next()}`.slice(0, 60)
        const answer = await put(name, value)
        expect([answer.status, answer.body['code']]).toEqual([status, status === 400 ? 'invalid_secret' : undefined])
        if (status === 200) expect(await valueOf(answer.body['id'])).toBe(value)
        else expect((await show(name)).status).toBe(404)
      })

      it('refuses half of a surrogate pair, which is no text', async () => {
        expect(codeOf(await put('half', '\ud83d'))).toEqual([400, 'invalid_body'])
      })

      it.each(['UPPER', '-a', 'a-', 'a_b', 'a'.repeat(64), 'a%2Fb'])('refuses the name %s', async (name) => {
        expect(codeOf(await put(name))).toEqual([400, 'invalid_secret'])
      })

      it('refuses a body beyond 400 KiB without reading it', async () => {
        expect(codeOf(await put('large', 'a'.repeat(410 * 1024)))).toEqual([400, 'invalid_secret'])
      })

      it('refuses another version where the secret has a hundred, and takes one once there is room', async () => {
        const { body } = await put('full')
        const secret_id = String(body['id'])
        const created_at = new Date(tenancy.clock.nowMs)
        const rows = Array.from({ length: 99 }, (_, more) => ({
          secret_id,
          version: more + 2,
          created_by: admin,
          created_at,
        }))
        await tenancy.db.insertInto('project_secret_versions').values(rows).execute()
        for (const { version } of rows)
          await secretStore.put(`project-secrets/${secret_id}`, Buffer.from('x'), version - 1)
        expect(codeOf(await put('full'))).toEqual([409, 'secret_versions_exhausted'])
        expect((await remove('full', '?version=1')).status).toBe(204)
        expect((await put('full')).body['latest_version']).toBe(101)
      })

      it('keeps every version that is given among those of writes at once, and refuses the others', async () => {
        await put('raced')
        const answers = await Promise.all(Array.from({ length: 12 }, (_, one) => put('raced', `${VALUE}-${one}`)))
        const given = answers.filter(({ status }) => status === 200)
        expect(given.length).toBeGreaterThan(0)
        for (const answer of answers)
          if (answer.status !== 200) expect(codeOf(answer)).toEqual([409, 'secret_write_in_progress'])
        expect(await versionsOf('raced')).toHaveLength(1 + given.length)
      })

      it('creates one secret where several callers create it at once', async () => {
        const answers = await Promise.all(Array.from({ length: 8 }, () => put('raced-new')))
        const given = answers.filter(({ status }) => status === 200)
        expect(new Set(given.map(({ body }) => body['id'])).size).toBe(1)
        expect(await versionsOf('raced-new')).toHaveLength(given.length)
      })

      it('is refused to a deployer, who may list and show', async () => {
        await put('readable')
        expect(codeOf(await tenancy.call(deployer, `PUT ${at('readable')}`, { value: VALUE }))).toEqual([
          403,
          'permission_denied',
        ])
        expect(codeOf(await tenancy.call(deployer, `DELETE ${at('readable')}`))).toEqual([403, 'permission_denied'])
        const { body } = await tenancy.call(deployer, `GET /v1/projects/${projectId}/secrets?limit=200`)
        expect((body['items'] as { name: string }[]).map(({ name }) => name)).toContain('readable')
      })
    })

    describe('a store that cannot be used', () => {
      const STEPS: readonly Step[] = ['before newest', 'before put', 'after put']

      it.each(STEPS)('%s: answers 503, changes nothing, and lets the next write through at once', async (step) => {
        const name = `away-${step.replace(' ', '-')}`
        for (const first of [true, false]) {
          if (!first) await put(name)
          const before = await versionsOf(name)
          secretStore.failsAt(step)
          const answer = await put(name, `${VALUE}-lost`)
          expect(codeOf(answer)).toEqual([503, 'secret_store_unavailable'])
          expect(JSON.stringify(answer.body)).not.toContain(VALUE)
          secretStore.failsAt(undefined)
          expect(await versionsOf(name)).toEqual(before)
          const again = await put(name, `${VALUE}-again`)
          expect(again.status).toBe(200)
          expect(await valueOf(again.body['id'])).toBe(`${VALUE}-again`)
          await remove(name)
        }
      })

      it('keeps lists, reads and deletions working, and destroys when it is back', async () => {
        const { body } = await put('away-deleted')
        secretStore.failsAt('before destroy')
        expect((await show('away-deleted')).status).toBe(200)
        expect((await remove('away-deleted')).status).toBe(204)
        secretStore.failsAt('before ping')
        await expect(settle()).rejects.toMatchObject({ code: 'secret_store_unavailable' })
        expect(await intents()).toMatchObject([{ kind: 'destroy' }])
        secretStore.failsAt(undefined)
        expect(await valueOf(body['id'])).toBe(VALUE)
        await settle()
        expect(await valueOf(body['id'])).toBeUndefined()
      })

      it('leaves an interrupted destruction due once its lease is over', async () => {
        await put('away-half')
        await remove('away-half')
        secretStore.failsAt('after destroy')
        await expect(settle()).rejects.toMatchObject({ code: 'secret_store_unavailable' })
        expect(await intents()).toHaveLength(1)
      })
    })

    describe('a write under way', () => {
      it('excludes another one, which is told so', async () => {
        await put('busy')
        let other: Answer | undefined
        secretStore.once('before put', async () => {
          other = await put('busy', 'other')
        })
        expect((await put('busy')).status).toBe(200)
        expect(other && codeOf(other)).toEqual([409, 'secret_write_in_progress'])
      })

      it.each(['before newest', 'before put', 'after put'] as const)(
        'is refused where the secret is deleted %s',
        async (step) => {
          const name = `deleted-${step.replace(' ', '-')}`
          await put(name)
          secretStore.once(step, async () => {
            expect((await remove(name)).status).toBe(204)
            await createSecretsReconcile({ ...tenancy, secretStore }).run(unfenced(tenancy))
          })
          expect(codeOf(await put(name))).toEqual([409, 'secret_write_in_progress'])
          expect((await show(name)).status).toBe(404)
          expect((await put(name)).body['latest_version']).toBe(1)
        },
      )

      it('that took longer than its lease was discarded, and cannot become permanent', async () => {
        await put('late')
        secretStore.once('after put', () => settle())
        expect(codeOf(await put('late', 'too late'))).toEqual([409, 'secret_write_in_progress'])
        expect(await versionsOf('late')).toEqual([1])
      })

      it('that came late to its put sends none', async () => {
        secretStore.once('after newest', () => {
          tenancy.clock.nowMs += 30_001
        })
        secretStore.calls.length = 0
        expect(codeOf(await put('slow'))).toEqual([409, 'secret_write_in_progress'])
        expect(secretStore.calls).toEqual(['newest'])
      })

      it('that appears in the store after it was given up is destroyed with the next one', async () => {
        const { body } = await put('zombie')
        secretStore.failsAt('after put')
        await put('zombie', 'given up')
        secretStore.failsAt(undefined)
        expect((await put('zombie', 'next')).body['versions']).toMatchObject([{ version: 1 }, { version: 3 }])
        expect(await intents()).toMatchObject([{ kind: 'destroy', version: 2 }])
        await settle()
        expect(await valueOf(body['id'], 2)).toBeUndefined()
      })
    })

    describe('DeleteSecret', () => {
      it('takes one version, destroys it, and announces it', async () => {
        const id = String((await put('two')).body['id'])
        await put('two', 'newer')
        const answer = await remove('two', '?version=1')
        expect(answer.status).toBe(204)
        expect(await versionsOf('two')).toEqual([2])
        const payload = { secret_id: id, project_id: projectId, name: 'two', version: 1 }
        expect(await tenancy.outbox(answer)).toMatchObject([{ event: 'SecretDeleted', domain_id: domainId, payload }])
        expect(await tenancy.audit(answer)).toMatchObject({ relation: 'secret.delete', object: `secret:${id}` })
        await settle()
        expect(await valueOf(id, 1)).toBeUndefined()
        expect(codeOf(await remove('two', '?version=1'))).toEqual([404, 'secret_not_found'])
      })

      it('takes the secret with its only version, and a new one of the name begins at 1', async () => {
        const { body } = await put('only')
        expect((await remove('only', '?version=1')).status).toBe(204)
        expect(codeOf(await show('only'))).toEqual([404, 'secret_not_found'])
        const next = await put('only')
        expect(next.body['latest_version']).toBe(1)
        expect(next.body['id']).not.toBe(body['id'])
      })

      it.each(['0', '-1', '1.5', 'one', '1e3', '9999999999'])('refuses version=%s', async (version) => {
        await put('odd')
        expect(codeOf(await remove('odd', `?version=${version}`))).toEqual([400, 'invalid_query'])
      })

      it.each([
        ['who names the version', '?version=1', { version: 1 }, 409],
        ['who takes the newest one', '?version=2', { version: null }, 409],
        ['who takes the newest one, of an older one', '?version=1', { version: null }, 204],
        ['who names another version', '?version=1', { version: 2 }, 204],
        ['anybody, of the whole', '', { version: 1 }, 409],
      ])('is kept by %s', async (title, query, { version }, status) => {
        const name = `used-${title.replaceAll(/\W/g, '-')}`
        await put(name)
        await put(name)
        users = [{ name, object: 'resource:01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b', version }]
        expect((await show(name)).body['users']).toEqual([{ object: users[0]?.object, version }])
        const answer = await remove(name, query)
        expect(answer.status).toBe(status)
        if (status === 409)
          expect(answer.body).toMatchObject({
            code: 'secret_in_use',
            users: ['resource:01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'],
          })
      })
    })

    it('a Project with secrets is not deleted', async () => {
      const project = await tenancy.project(domainId)
      const path = at('kept', project)
      await tenancy.call(tenancy.root, `PUT ${path}`, { value: VALUE })
      const refused = await tenancy.call(tenancy.root, `DELETE /v1/projects/${project}`)
      expect(refused.body).toMatchObject({ code: 'project_not_empty', counts: { project_secrets: 1 } })
      await tenancy.call(tenancy.root, `DELETE ${path}`)
      expect((await tenancy.call(tenancy.root, `DELETE /v1/projects/${project}`)).status).toBe(204)
    })

    it('a Project that is deleted while a secret of it is created leaves no secret', async () => {
      const project = await tenancy.project(domainId)
      secretStore.once('after put', () => tenancy.call(tenancy.root, `DELETE /v1/projects/${project}`))
      const answer = await tenancy.call(tenancy.root, `PUT ${at('orphan', project)}`, { value: VALUE })
      expect(codeOf(answer)).toEqual([404, 'project_not_found'])
    })
  })
})
