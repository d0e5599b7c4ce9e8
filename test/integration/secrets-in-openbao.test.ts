import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createOpenBao, type OpenedSecretStore } from '../../src/server/adapters/openbao/openbao.ts'
import { createSecretsReconcile } from '../../src/server/secrets/reconcile.ts'
import { unfenced } from '../support/datastores/leading.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startBaoEmulator, type BaoEmulator, type BaoMoods, type Call } from '../support/openbao/emulator.ts'
import { ownedVersions } from '../support/secrets/owned-versions.ts'
import type { Answer } from '../support/server/control-plane.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'

const VALUE = 'correct-horse-battery'
const LEASE_MS = 120_000
const DEADLINE_MS = 300

describe.each(STORES)('Secrets in OpenBao, beside the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    const scratch = mkdtempSync(join(tmpdir(), 'ctl-secrets-'))
    const logged: string[] = []
    let bao: BaoEmulator
    let secretStore: OpenedSecretStore
    let tenancy: Tenancy
    let projectId: string
    let cloudId: string

    beforeAll(async () => {
      bao = await startBaoEmulator()
      const tokenFile = join(scratch, 'token')
      writeFileSync(tokenFile, bao.issue(), { mode: 0o600 })
      secretStore = createOpenBao({
        address: { url: bao.url, namespace: undefined, ca: undefined, deadlineMs: DEADLINE_MS },
        mount: 'secret',
        login: { kind: 'token', tokenFile },
        onFailure(error) {
          throw error
        },
      })
      const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
      tenancy = await startTenancy(store, {
        surfaces: ['secrets', 'clouds', 'cloudCredentials'],
        ports: { secretStore },
        log,
      })
      projectId = await tenancy.project(await tenancy.domain())
      cloudId = String((await root('POST /v1/clouds', CLOUD)).body['id'])
    })
    afterEach(async () => {
      clear()
      await settle()
      expect(await kept()).toEqual((await ownedVersions(tenancy.db)).owned)
      expect(logged.filter((line) => line.includes(VALUE) || line.includes(ENCODED))).toEqual([])
    })
    afterAll(async () => {
      await tenancy.stop()
      await secretStore.close()
      await bao.stop()
      rmSync(scratch, { recursive: true, force: true })
    })

    const CLOUD = {
      slug: 'eu1',
      display_name: 'Europe',
      provider: 'hetzner',
      endpoint: {},
      provider_config_api_version: 'v1',
      provider_packages: [{ source: 'oci://registry.example/provider', version: 'v1' }],
    }
    const ENCODED = Buffer.from(VALUE).toString('base64')
    const root = (operation: string, body?: unknown) => tenancy.call(tenancy.root, operation, body)
    const put = (name: string, value = VALUE) => root(`PUT /v1/projects/${projectId}/secrets/${name}`, { value })
    const create = () =>
      root(`POST /v1/clouds/${cloudId}/credentials`, { display_name: 'Production', secret: { token: VALUE } })
    const rotate = (id: unknown) =>
      root(`POST /v1/cloud-credentials/${String(id)}/rotate`, { secret: { token: `${VALUE}-2` } })
    const codeOf = ({ status, body }: Answer) => [status, body['code']]

    function clear(): void {
      const calm: Partial<BaoMoods> = { isSealed: false, isSilent: false, engineAnswers: undefined }
      Object.assign(bao.moods, calm, { before: undefined, breaksAfter: undefined })
    }

    async function settle(): Promise<void> {
      tenancy.clock.nowMs += LEASE_MS
      await createSecretsReconcile({ ...tenancy, secretStore }).run(unfenced(tenancy))
    }

    /** Versions that the engine can still give, as `path@version`. */
    async function kept(): Promise<string[]> {
      return [...bao.kv.keys]
        .flatMap(([path, { versions }]) =>
          [...versions].flatMap(([at, { destroyed }]) => (destroyed ? [] : [`${path}@${at}`])),
        )
        .toSorted()
    }

    it('keeps them there and nowhere else, by paths of ids', async () => {
      const secret = await put('registry')
      const credential = await create()
      expect(await kept()).toEqual(
        [
          `project-secrets/${String(secret.body['id'])}@1`,
          `cloud-credentials/${String(credential.body['id'])}@1`,
        ].toSorted(),
      )
      expect(await tenancy.db.selectFrom('secret_versions').selectAll().execute()).toEqual([])
    })

    const isPut = ({ method, path }: Call): boolean => method === 'POST' && path.startsWith('secret/data/')
    const OUTAGES: readonly (readonly [string, () => void])[] = [
      ['away', () => void (bao.moods.breaksAfter = () => true)],
      ['slow', () => void (bao.moods.isSilent = true)],
      ['sealed', () => void (bao.moods.isSealed = true)],
      ['out of space', () => void (bao.moods.engineAnswers = { status: 507, body: { errors: [VALUE] } })],
      ['lost after it wrote', () => void (bao.moods.breaksAfter = isPut)],
      [
        'sealed in the middle',
        () => {
          bao.moods.before = (call) => {
            if (isPut(call)) bao.moods.isSealed = true
            return undefined
          }
        },
      ],
      [
        'out of space in the middle',
        () => {
          bao.moods.before = (call) =>
            isPut(call) ? { status: 500, body: { errors: ['no space left on device'] } } : undefined
        },
      ],
    ]

    it.each(OUTAGES)('%s: a write or rotation answers 503 and changes nothing', async (title, happen) => {
      const name = title.replaceAll(' ', '-')
      const secret = await put(name)
      const credential = await create()
      for (const call of [
        () => put(name, `${VALUE}-2`),
        () => put(`${name}-new`),
        create,
        () => rotate(credential.body['id']),
      ]) {
        happen()
        const answer = await call()
        clear()
        expect(codeOf(answer)).toEqual([503, 'secret_store_unavailable'])
        expect(JSON.stringify(answer.body)).not.toContain(VALUE)
      }
      expect((await root(`GET /v1/projects/${projectId}/secrets/${name}`)).body).toEqual(secret.body)
      expect((await root(`GET /v1/projects/${projectId}/secrets/${name}-new`)).status).toBe(404)
      expect((await root(`GET /v1/cloud-credentials/${String(credential.body['id'])}`)).body).toEqual(credential.body)
      expect([(await put(name)).status, (await rotate(credential.body['id'])).status]).toEqual([200, 200])
    })

    it('reads and deletions need no store, and bytes are destroyed once it is back', async () => {
      const { body } = await create()
      bao.moods.isSealed = true
      expect((await root(`GET /v1/clouds/${cloudId}/credentials`)).status).toBe(200)
      expect((await root(`DELETE /v1/cloud-credentials/${String(body['id'])}`)).status).toBe(204)
      await expect(settle()).rejects.toMatchObject({ code: 'secret_store_unavailable', cause: { fault: 'sealed' } })
      expect(await kept()).toContain(`cloud-credentials/${String(body['id'])}@1`)
    })

    it('readiness waits for the store once, and is only degraded by a later failure', async () => {
      bao.moods.isSealed = true
      const ready = async () => {
        tenancy.clock.nowMs += 1_000
        const response = await fetch(`${tenancy.url}/readyz`)
        const { probes } = (await response.json()) as { probes: { name: string }[] }
        return [response.status, probes.find(({ name }) => name === 'secrets-reconcile')]
      }
      expect(await ready()).toMatchObject([503, { ok: false, detail: 'it is sealed: unseal it' }])
      bao.moods.isSealed = false
      expect(await ready()).toMatchObject([200, { name: 'secrets-reconcile', ok: true }])
      bao.moods.isSealed = true
      expect(await ready()).toMatchObject([200, { ok: false, informational: true }])
    })
  })
})
