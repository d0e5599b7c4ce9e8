import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseNsk } from '../../src/shared/credential-formats.ts'
import { openSecretEnvelope } from '../../src/shared/mesh/secret-envelope.ts'
import type { Simulation } from '../support/fleet/simulation.ts'
import { startFleet } from '../support/outages/fleet.ts'
import { describeOutages } from '../support/outages/outage.ts'
import { startWorld, type World } from '../support/outages/world.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startCtl } from '../support/server/ctl-process.ts'
import { callServer } from '../support/server/replicas.ts'

const NODES = 20
/** About as long as the outages take together. */
const FLEET_SECONDS = 75

const isMissing = (['postgresql', 'spicedb'] as const).some((name) => requirement(name) === undefined)

describe.skipIf(isMissing)('a server whose services go and come back', () => {
  let world: World
  let fleet: Simulation

  beforeAll(async () => {
    world = await startWorld(['SpiceDB', 'OpenBao', 'Transit'])
    fleet = await startFleet(world.plane, { folder: world.folder, nodes: NODES, seconds: FLEET_SECONDS })
  }, 240_000)
  afterAll(() => world?.end(), 120_000)

  describeOutages(['SpiceDB', 'OpenBao', 'Transit'], () => world)

  test('a session that is refused for want of a signature leaves no row', { timeout: 180_000 }, async () => {
    const { server, token, projectId, node } = world.plane
    const path = `/v1/projects/${projectId}/sessions`
    const sessions = async (): Promise<number> => {
      const { body } = await callServer(server, { token, path: `${path}?limit=200` })
      return (body['items'] as readonly unknown[]).length
    }
    const body = { node_id: node.id, kind: 'ssh', target: 'deploy' }
    const before = await sessions()
    await world.away('Transit', async () => {
      expect(await callServer(server, { token, method: 'POST', path, body })).toMatchObject({ status: 503 })
      expect(await sessions()).toBe(before)
    })
    await expect
      .poll(async () => (await callServer(server, { token, method: 'POST', path, body })).status, { timeout: 60_000 })
      .toBe(201)
    expect(await sessions()).toBe(before + 1)
  })

  test('a secret that a node has fetched opens without the store', async () => {
    const { server, node, secretRef: ref } = world.plane
    const response = await fetch(`${server.url}/v1/nodes/${node.id}/secrets?ref=${encodeURIComponent(ref)}`, {
      headers: { authorization: `Bearer ${node.nsk}` },
    })
    const envelope = new Uint8Array(await response.arrayBuffer())
    const version = Number(response.headers.get('x-service-secret-version'))
    await world.away('OpenBao', async () => {
      const opened = openSecretEnvelope(envelope, keyOf(node.nsk), { nodeId: node.id, ref, version })
      expect(opened.ok && new TextDecoder().decode(opened.secret)).toBe('a key')
    })
  })

  test('what was deleted while the store was away is destroyed once it is back', { timeout: 180_000 }, async () => {
    const { server, token, projectId } = world.plane
    const path = `/v1/projects/${projectId}/secrets/doomed`
    const isKept = (): boolean => world.bao.kv.values().some((text) => text.includes(btoa('of the doomed')))
    await callServer(server, { token, method: 'PUT', path, body: { value: 'of the doomed' } })
    expect(isKept()).toBe(true)
    await world.away('OpenBao', async () => {
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
      let late = world.plane.server
      try {
        await world.away('OpenBao', async () => {
          late = await startCtl({
            args: ['--data-dir', join(world.folder, 'late')],
            env: world.settingsOf('OpenBao'),
          })
          expect(await readiness()).toMatchObject([503, 'unhealthy', { ok: false }])
          expect((await readiness())[2]).not.toHaveProperty('informational')
          expect((await fetch(`${late.url}/livez`)).status).toBe(200)
        })
        await expect.poll(readiness, { timeout: 60_000 }).toMatchObject([200, 'ready', { ok: true }])
        await world.away('OpenBao', () =>
          expect
            .poll(readiness, { timeout: 60_000 })
            .toMatchObject([200, 'degraded', { ok: false, informational: true }]),
        )
      } finally {
        if (late !== world.plane.server) await late.end('SIGTERM')
      }
    },
  )

  test('no node of the fleet misses an event', { timeout: 240_000 }, async () => {
    const { exitCode, stdout } = await fleet.ended
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { missed_events: 0 }])
  })
})

function keyOf(nsk: string): Uint8Array {
  const parsed = parseNsk(nsk)
  if (parsed === undefined) throw new Error('that is no node secret key')
  return parsed.key
}
