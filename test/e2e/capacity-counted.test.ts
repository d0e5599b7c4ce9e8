import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { startPlane, type Plane } from '../support/outages/plane.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { callServer } from '../support/server/replicas.ts'

/** Nodes that the plane enrols before the test: one that holds a stream, and those that have not pulled yet. */
const NODES = 41

const INTERVAL = { SERVICE_CAPACITY_SAMPLE_INTERVAL: '1s' }

describe.skipIf(requirement('postgresql') === undefined)('the capacity of a Domain on two replicas', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-capacity-counted-'))
  let cluster: PostgresCluster
  let plane: Plane
  let second: CtlProcess

  beforeAll(async () => {
    cluster = await startPostgresCluster({ isDurable: false })
    const databaseUrl = await cluster.createDatabase()
    plane = await startPlane(folder, { SERVICE_DATABASE_URL: databaseUrl, ...INTERVAL })
    const args = ['--data-dir', join(folder, 'second'), '--master-key-file', join(folder, 'data', 'master.key')]
    second = await startCtl({ args, env: { SERVICE_DATABASE_URL: databaseUrl, ...INTERVAL } })
  }, 180_000)
  afterAll(async () => {
    await Promise.all([plane?.stop(), second?.end('SIGTERM')])
    await cluster.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function usedOn(server: CtlProcess): Promise<Readonly<Record<string, number>>> {
    const { token, domainId } = plane
    const { body } = await callServer(server, { token, path: `/v1/domains/${domainId}/capacity` })
    const dimensions = body['dimensions'] as
      | readonly { readonly dimension: string; readonly used: number }[]
      | undefined
    return Object.fromEntries((dimensions ?? []).map(({ dimension, used }) => [dimension, used]))
  }

  async function make(token: string, method: string, path: string, body?: object): Promise<void> {
    const answer = await callServer(plane.server, { token, method, path, ...(body !== undefined && { body }) })
    expect(answer.status, `${method} ${path}`).toBeLessThan(300)
  }

  test('is what nodes and people do, the same on both, and the rates end with it', { timeout: 120_000 }, async () => {
    const { token, node, projectId, secretRef } = plane
    const session = { node_id: node.id, kind: 'ssh', target: 'deploy' }
    await make(token, 'POST', `/v1/projects/${projectId}/sessions`, session)
    await make(token, 'POST', `/v1/nodes/${node.id}/executions`, { action: 'ping' })
    const report = { value: 'x'.repeat(1_000) }
    const seen = { sse_fanout: 0, secret_reads: 0, observability_ingest: 0 }
    await expect
      .poll(
        async () => {
          const secret = `/v1/nodes/${node.id}/secrets?ref=${encodeURIComponent(secretRef)}`
          await fetch(`${plane.server.url}${secret}`, { headers: { authorization: `Bearer ${node.nsk}` } })
          await make(node.nsk, 'PUT', `/v1/nodes/${node.id}/state/reports/load`, report)
          await plane.enrolOne()
          const used = await usedOn(second)
          for (const name of ['sse_fanout', 'secret_reads', 'observability_ingest'] as const)
            seen[name] = Math.max(seen[name], used[name] ?? 0)
          return Object.values(seen).every((most) => most > 0)
        },
        { timeout: 60_000, interval: 100 },
      )
      .toBe(true)
    await expect
      .poll(() => Promise.all([usedOn(plane.server), usedOn(second)]), { timeout: 30_000, interval: 500 })
      .toEqual(
        [plane.server, second].map(() => ({
          nodes: expect.toSatisfy((nodes: number) => nodes > NODES),
          sse_fanout: 0,
          secret_reads: 0,
          mediated_sessions: 1,
          observability_ingest: 0,
          action_executions: 1,
        })),
      )
  })
})
