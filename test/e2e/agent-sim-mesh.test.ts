import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { startCtl } from '../support/server/ctl-process.ts'
import { startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { callServer } from '../support/server/replicas.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startSimulation, warningsOf } from '../support/fleet/simulation.ts'

const AGENTS = 200
const ROTATED = 10
const EXECUTED = 5
const FAIL_ON = [
  'errors>0',
  'refusals>0',
  'missed_events>0',
  'bad_signatures>0',
  'edge_mismatches>0',
  'epoch_regressions>0',
  'bad_envelopes>0',
  'bad_snapshots>0',
  'stale_edges>0',
  'stale_peers>0',
  'bad_policies>0',
  'unknown_entries>0',
  'stale_policies>0',
  'not_provisioned>0',
].join()
const LIFE = ['--endpoint-changes', '100%/min', '--pulls', '100%/min', '--reports', '100%/min', '--edges', '4']

describe('a fleet that does all that agents do', () => {
  let cluster: PostgresCluster | undefined
  afterAll(() => cluster?.stop())

  const stores = [
    { store: 'the embedded datastore', isMissing: false, env: async () => ({}) },
    {
      store: 'PostgreSQL',
      isMissing: requirement('postgresql') === undefined,
      env: async () => {
        cluster = await startPostgresCluster()
        return { SERVICE_DATABASE_URL: cluster.url }
      },
    },
  ]

  for (const { store, isMissing, env } of stores) {
    test.skipIf(isMissing)(
      `finds nothing wrong on ${store} while keys rotate, and the server agrees with every agent`,
      { timeout: 600_000 },
      async () => {
        const { call, simulate } = await startPlane(await env())
        const fleet = simulate(['--nodes', String(AGENTS), '--duration', '15s', '--heartbeat-interval', '3s', ...LIFE])
        await expect.poll(fleet.progress, { timeout: 300_000 }).toContain('"phase":"running"')
        const { items } = await call('GET', `/v1/nodes?limit=${AGENTS}`)
        const nodes = (items as readonly { readonly id: string }[]).map(({ id }) => id)
        for (const id of nodes.slice(0, ROTATED)) await call('POST', `/v1/nodes/${id}/keys/rotate`)
        for (const id of nodes.slice(-EXECUTED))
          await call('POST', `/v1/nodes/${id}/executions`, { action: 'ping', type: 'builtin' })
        const { domain_id: domainId } = await call('GET', '/v1/auth/whoami')
        const { items: projects } = await call('GET', `/v1/domains/${String(domainId)}/projects`)
        const [project] = projects as readonly { readonly id: string }[]
        const session = { node_id: nodes[0], kind: 'ssh', target: 'root' }
        await call('POST', `/v1/projects/${String(project?.id)}/sessions`, session)

        const { exitCode, stdout, stderr } = await fleet.ended
        expect([exitCode, warningsOf(stderr)]).toEqual([0, []])
        const counts = JSON.parse(stdout) as Readonly<Record<string, number>>
        expect(counts).toMatchObject({ registrations: AGENTS, sessions: 1 })
        // Where an answer came too late, the repeat of the call was needless.
        expect((counts['key_rotations'] ?? 0) + (counts['needless_rotations'] ?? 0)).toBeGreaterThanOrEqual(ROTATED)
        expect((counts['executions_succeeded'] ?? 0) + (counts['executions_failed'] ?? 0)).toBe(EXECUTED)
        expect(counts['edges_compared']).toBeGreaterThanOrEqual(2 * AGENTS)

        const verified = await call('POST', `/v1/domains/${String(domainId)}/mesh/edge-epochs/verify`, {})
        expect(verified).toMatchObject({ nodes_checked: AGENTS, agreeing: AGENTS, disagreeing: [] })
      },
    )
  }
})

/** A server of its own for one test. */
async function startPlane(env: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-mesh-'))
  const tokenFile = join(folder, 'token')
  const args = ['--data-dir', join(folder, 'data'), '--bootstrap-token-file', tokenFile]
  const server = await startCtl({ args, env })
  onTestFinished(async () => {
    await server.end('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  })
  const token = readFileSync(tokenFile, 'utf8').trim()
  const ctl = { CTL_URL: server.url, CTL_TOKEN: token, CTL_CONFIG_DIR: folder }
  return {
    simulate: (words: readonly string[]) => startSimulation(ctl, [...words, '--fail-on', FAIL_ON, '-o', 'json']),
    async call(method: string, path: string, body?: unknown) {
      const answer = await callServer(server, { token, method, path, ...(body !== undefined && { body }) })
      if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body
    },
  }
}
