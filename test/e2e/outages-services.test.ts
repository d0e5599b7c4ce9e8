import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseNsk } from '../../src/shared/credential-formats.ts'
import { openSecretEnvelope } from '../../src/shared/mesh/secret-envelope.ts'
import { startSpicedb, type SpicedbServer } from '../support/authz/spicedb-server.ts'
import { startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import type { Simulation } from '../support/fleet/simulation.ts'
import { startBaoEmulator, type BaoEmulator } from '../support/openbao/emulator.ts'
import { HOWS, relayedDependency, spicedbDependency, type Dependency } from '../support/outages/dependencies.ts'
import { startFleet } from '../support/outages/fleet.ts'
import { expectComplete, holdToTable } from '../support/outages/outage.ts'
import { startPlane, type Plane } from '../support/outages/plane.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startCtl } from '../support/server/ctl-process.ts'
import { callServer } from '../support/server/replicas.ts'

const NODES = 20
/** About as long as the outages take together. */
const FLEET_SECONDS = 90

const isMissing = (['postgresql', 'spicedb'] as const).some((name) => requirement(name) === undefined)

describe.skipIf(isMissing)('a server whose services go and come back', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-outages-services-'))
  let cluster: PostgresCluster
  let spicedb: SpicedbServer
  let bao: BaoEmulator
  let dependencies: Readonly<Record<string, Dependency>>
  let plane: Plane
  let fleet: Simulation

  beforeAll(async () => {
    ;[cluster, spicedb, bao] = await Promise.all([
      startPostgresCluster({ isDurable: false }),
      startSpicedb(),
      startBaoEmulator(),
    ])
    const [engine, store] = [await spicedbDependency(spicedb), await relayedDependency('OpenBao', bao.url)]
    const signer = await relayedDependency('Transit', bao.url)
    bao.transit.create('ctl', { type: 'ed25519' })
    dependencies = { SpiceDB: engine, OpenBao: store, Transit: signer }
    writeFileSync(join(folder, 'spicedb-token'), `${spicedb.token}\n`, { mode: 0o600 })
    writeFileSync(join(folder, 'bao-token'), bao.issue(), { mode: 0o600 })
    plane = await startPlane({
      folder,
      name: 'services',
      databaseUrl: await cluster.createDatabase(),
      env: {
        SERVICE_SPICEDB_ENDPOINT: engine.address,
        SERVICE_SPICEDB_TOKEN_FILE: join(folder, 'spicedb-token'),
        SERVICE_SECRET_STORE_URL: `http://${store.address}`,
        ...baoLogin(folder),
        SERVICE_SIGNER_URL: `http://${signer.address}/transit/ctl`,
        SERVICE_SIGNER_TOKEN_FILE: join(folder, 'bao-token'),
      },
    })
    fleet = await startFleet(plane, { folder, nodes: NODES, seconds: FLEET_SECONDS })
  }, 240_000)
  afterAll(async () => {
    await plane?.stop()
    await Promise.all(Object.values(dependencies).map((each) => each.close()))
    await Promise.all([cluster.stop(), spicedb.close(), bao.stop()])
    rmSync(folder, { recursive: true, force: true })
  }, 120_000)

  const given = (name: string): Dependency => {
    const found = dependencies[name]
    if (found === undefined) throw new Error(`${name} was not started`)
    return found
  }

  async function away(name: string, work: () => Promise<unknown>): Promise<void> {
    await given(name).fail('stopped')
    try {
      await work()
    } finally {
      await given(name).recover('stopped')
    }
  }

  describe.each(['SpiceDB', 'OpenBao', 'Transit'])('%s', (name) => {
    test('has rows for every call', () => expectComplete(name))

    test.each(HOWS)(
      '%s: every call is answered as the table says, and works again once it is back',
      { timeout: 240_000 },
      async (how) => {
        // Where nodes can join, the others have to receive that they did.
        const joining = (): Promise<unknown> => plane.enrolOne().catch(() => undefined)
        await holdToTable(plane, { dependency: given(name), how }, joining)
        await plane.enrolOne()
      },
    )
  })

  test('a session that is refused for want of a signature leaves no row', { timeout: 60_000 }, async () => {
    const { server, token, projectId, node } = plane
    const path = `/v1/projects/${projectId}/sessions`
    const sessions = async (): Promise<number> => {
      const { body } = await callServer(server, { token, path: `${path}?limit=200` })
      return (body['items'] as readonly unknown[]).length
    }
    const body = { node_id: node.id, kind: 'ssh', target: 'deploy' }
    const before = await sessions()
    await away('Transit', async () => {
      expect(await callServer(server, { token, method: 'POST', path, body })).toMatchObject({ status: 503 })
      expect(await sessions()).toBe(before)
    })
    await expect
      .poll(async () => (await callServer(server, { token, method: 'POST', path, body })).status, { timeout: 10_000 })
      .toBe(201)
    expect(await sessions()).toBe(before + 1)
  })

  test('a secret that a node has fetched opens without the store', async () => {
    const { server, node, secretRef: ref } = plane
    const response = await fetch(`${server.url}/v1/nodes/${node.id}/secrets?ref=${encodeURIComponent(ref)}`, {
      headers: { authorization: `Bearer ${node.nsk}` },
    })
    const envelope = new Uint8Array(await response.arrayBuffer())
    const version = Number(response.headers.get('x-service-secret-version'))
    await away('OpenBao', async () => {
      const opened = openSecretEnvelope(envelope, keyOf(node.nsk), { nodeId: node.id, ref, version })
      expect(opened.ok && new TextDecoder().decode(opened.secret)).toBe('a key')
    })
  })

  test('what was deleted while the store was away is destroyed once it is back', { timeout: 90_000 }, async () => {
    const { server, token, projectId } = plane
    const path = `/v1/projects/${projectId}/secrets/doomed`
    const isKept = (): boolean => bao.kv.values().some((text) => text.includes(btoa('of the doomed')))
    await callServer(server, { token, method: 'PUT', path, body: { value: 'of the doomed' } })
    expect(isKept()).toBe(true)
    await away('OpenBao', async () => {
      expect(await callServer(server, { token, method: 'DELETE', path })).toMatchObject({ status: 204 })
      expect(isKept()).toBe(true)
    })
    await expect.poll(isKept, { timeout: 60_000, interval: 250 }).toBe(false)
  })

  test(
    'a store that has not answered since the start keeps the server out of rotation',
    { timeout: 90_000 },
    async () => {
      const readiness = async (): Promise<readonly unknown[]> => {
        const response = await fetch(`${late.url}/readyz`)
        const { status, probes } = (await response.json()) as { status: string; probes: readonly { name: string }[] }
        return [response.status, status, probes.find(({ name }) => name === 'secrets-reconcile')]
      }
      let late = plane.server
      try {
        await away('OpenBao', async () => {
          late = await startCtl({
            args: ['--data-dir', join(folder, 'late')],
            env: { SERVICE_SECRET_STORE_URL: `http://${given('OpenBao').address}`, ...baoLogin(folder) },
          })
          expect(await readiness()).toMatchObject([503, 'unhealthy', { ok: false }])
          expect((await readiness())[2]).not.toHaveProperty('informational')
          expect((await fetch(`${late.url}/livez`)).status).toBe(200)
        })
        await expect.poll(readiness, { timeout: 10_000 }).toMatchObject([200, 'ready', { ok: true }])
        await away('OpenBao', () =>
          expect
            .poll(readiness, { timeout: 10_000 })
            .toMatchObject([200, 'degraded', { ok: false, informational: true }]),
        )
      } finally {
        if (late !== plane.server) await late.end('SIGTERM')
      }
    },
  )

  test('no node of the fleet misses an event', { timeout: 240_000 }, async () => {
    const { exitCode, stdout } = await fleet.ended
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { missed_events: 0 }])
  })
})

const baoLogin = (folder: string) => ({ SERVICE_SECRET_STORE_TOKEN_FILE: join(folder, 'bao-token') })

function keyOf(nsk: string): Uint8Array {
  const parsed = parseNsk(nsk)
  if (parsed === undefined) throw new Error('that is no node secret key')
  return parsed.key
}
