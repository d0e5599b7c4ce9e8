import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { startMigratedCluster } from '../support/datastores/migrated-cluster.ts'
import { STORES } from '../support/datastores/stores.ts'
import type { PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { startPebble, type Pebble } from '../support/network/pebble.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { callServer, enrol, type Answered } from '../support/server/replicas.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })

const program = requirement('pebble')
const isMissing = program === undefined || requirement('openssl') === undefined

/** A server with a bridge, and a rule of it to be written. */
interface Place {
  readonly server: CtlProcess
  /** Calls below the path of the bridge. */
  on(method: string, path: string, body?: unknown): Promise<Answered>
  /** Creates a rule of a fresh name that names the directory. */
  create(ref: string | null): Promise<Answered>
  putSecret(name: string, value: unknown): Promise<Answered>
  ruleCount(): Promise<number>
  stop(): Promise<void>
}

async function startPlace(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-acme-'))
  const server = await startCtl({ args: ['--data-dir', folder, '--log-level', 'warn', ...args], env })
  const token = readFileSync(join(folder, 'bootstrap-token'), 'utf8').trim()
  const made = async (path: string, body: unknown): Promise<string> => {
    const answer = await callServer(server, { token, method: 'POST', path, body })
    if (answer.status !== 201) throw new Error(`not made: ${JSON.stringify(answer.body)}`)
    return String(answer.body['id'])
  }
  const domainId = await made('/v1/domains', { slug: 'acme', display_name: 'Acme', mesh_cidr: '100.64.0.0/16' })
  const projectId = await made(`/v1/domains/${domainId}/projects`, { slug: 'edge', display_name: 'Edge' })
  const [node] = await enrol(server, { token, domainId, nodes: 1 })
  const resource = { kind: 'bridge', slug: 'edge-1', display_name: 'Edge 1', host_node_ids: [node?.id] }
  const resourceId = await made(`/v1/projects/${projectId}/resources`, resource)
  const bridge = `/v1/projects/${projectId}/resources/${resourceId}/bridge`
  let rules = 0
  const on: Place['on'] = (method, path, body) =>
    callServer(server, { token, method, path: `${bridge}${path}`, ...(body !== undefined && { body }) })
  return {
    server,
    on,
    create(acme_account_ref) {
      rules += 1
      const at = { sni_host: `r${rules}.example.org`, target_node_id: node?.id, target_port: 1_000 + rules }
      return on('POST', '/ingress', { slug: `r${rules}`, ...at, acme_account_ref })
    },
    putSecret: (name, value) => {
      const path = `/v1/projects/${projectId}/secrets/${name}`
      return callServer(server, { token, method: 'PUT', path, body: { value: JSON.stringify(value) } })
    },
    ruleCount: async () => ((await on('GET', '/ingress')).body['items'] as readonly unknown[]).length,
    async stop() {
      await server.end('SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const unreachable = (reason: string) => ({ status: 422, body: { code: 'acme_directory_unreachable', reason } })

describe.skipIf(isMissing)('A real ACME directory', () => {
  let pebble: Pebble
  let queries = 0
  /** The same directory under another URL, so that no earlier check counts for it. */
  const freshUrl = (): string => `${pebble.url}?n=${(queries += 1)}`

  beforeAll(async () => {
    pebble = await startPebble(program ?? '')
  })
  afterAll(() => pebble?.stop())

  describe.each(STORES)('named by rules on the $name store', (store) => {
    describe.skipIf(store.missing)('of a server that may ask it', () => {
      let cluster: PostgresCluster | undefined
      let place: Place

      beforeAll(async () => {
        cluster = store.name === 'postgres' ? await startMigratedCluster(true) : undefined
        const storage = cluster && ['--database-url', cluster.url, '--pool-interactive-max-conns', '2']
        const args = ['--acme-allow-hosts', `acme.lan, 127.0.0.1:${pebble.port}`, ...(storage ?? [])]
        place = await startPlace(args, { NODE_EXTRA_CA_CERTS: pebble.caFile })
      })
      afterEach(() => pebble.resume())
      afterAll(async () => {
        await place?.stop()
        await cluster?.stop()
      })

      test('is accepted by its URL, by a secret, and while it is remembered', async () => {
        const url = freshUrl()
        const value = { directory_url: url, eab_kid: 'kid-1', eab_hmac_key: 'c2VjcmV0' }
        expect((await place.putSecret('le', value)).status).toBe(200)
        expect(await place.create(url)).toMatchObject({ status: 201, body: { acme_account_ref: url } })
        pebble.suspend()
        expect(await place.create('secret:acme/edge/le')).toMatchObject({ status: 201 })
        expect(await place.create(null)).toMatchObject({ status: 201, body: { acme_account_ref: null } })
      })

      test('that hangs is given up after 5 s, and holds neither a connection of the datastore nor the bridge', async () => {
        const before = await place.ruleCount()
        pebble.suspend()
        const began = performance.now()
        const urls = Array.from({ length: 6 }, freshUrl)
        let given = 0
        const hanging = urls.map((url) => place.create(url).finally(() => (given += 1)))
        await new Promise((resolve) => setTimeout(resolve, 1_000))
        for (const listen_port of [51_821, 51_822]) {
          const relay = await place.on('PUT', '/relay', { enabled: true, listen_port })
          expect(relay).toMatchObject({ status: 200, body: { listen_port } })
        }
        expect(given).toBe(0)
        const refused = await Promise.all(hanging)
        expect(refused).toMatchObject(urls.map(() => unreachable('The directory gave no complete answer within 5 s.')))
        const elapsedMs = performance.now() - began
        expect(elapsedMs).toBeGreaterThan(4_900)
        expect(elapsedMs).toBeLessThan(20_000)
        expect(await place.ruleCount()).toBe(before)
        pebble.resume()
        expect(await place.create(urls[0] ?? '')).toMatchObject({ status: 201 })
      })

      test('is refused where it answers something else, where nobody listens, and where a secret does not say it', async () => {
        const before = await place.ruleCount()
        const elsewhere = pebble.url.replace('/dir', '/nonce-plz')
        expect(await place.create(elsewhere)).toMatchObject(unreachable('The directory answers with status 204.'))
        const nobody = await startPebble(program ?? '')
        await nobody.stop()
        expect(await place.create(nobody.url)).toMatchObject(
          unreachable('The directory is not at a public address, and --acme-allow-hosts does not name its host.'),
        )
        expect(await place.create('secret:acme/edge/missing')).toMatchObject(
          unreachable('The secret that is named, or its version, does not exist.'),
        )
        expect((await place.putSecret('odd', { url: pebble.url })).status).toBe(200)
        expect(await place.create('secret:acme/edge/odd')).toMatchObject({
          status: 422,
          body: { code: 'acme_directory_unreachable' },
        })
        expect(await place.ruleCount()).toBe(before)
      })
    })
  })

  test('that was ended is refused with the code of the system', async () => {
    const own = await startPebble(program ?? '')
    const args = ['--acme-allow-hosts', `127.0.0.1:${own.port}`]
    const place = await startPlace(args, { NODE_EXTRA_CA_CERTS: own.caFile })
    try {
      expect(await place.create(own.url)).toMatchObject({ status: 201 })
      await own.stop()
      expect(await place.create(`${own.url}?again`)).toMatchObject(
        unreachable('The directory cannot be reached: ECONNREFUSED.'),
      )
    } finally {
      await place.stop()
      await own.stop()
    }
  })

  test('is refused at its private address without the option, and without its authority', async () => {
    const closed = await startPlace([], { NODE_EXTRA_CA_CERTS: pebble.caFile })
    try {
      expect(await closed.create(pebble.url)).toMatchObject(
        unreachable('The directory is not at a public address, and --acme-allow-hosts does not name its host.'),
      )
    } finally {
      await closed.stop()
    }
    const untrusting = await startPlace(['--acme-allow-hosts', '127.0.0.1'], {})
    try {
      expect(await untrusting.create(pebble.url)).toMatchObject(
        unreachable('The directory cannot be reached: DEPTH_ZERO_SELF_SIGNED_CERT.'),
      )
    } finally {
      await untrusting.stop()
    }
  })
})
