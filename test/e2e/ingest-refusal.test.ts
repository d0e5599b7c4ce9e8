import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startCtl } from '../support/server/ctl-process.ts'
import { callServer } from '../support/server/replicas.ts'
import { startSimulation } from '../support/fleet/simulation.ts'

const AGENTS = 20
const EXECUTED = 5
/** Bytes a second: the agents report three times as much. */
const TARGET = 20_000
/** What may be refused for it. */
const REFUSED = new Set(['report', 'capabilities'])

test(
  'a fleet that reports too much is refused, loses nothing, and its violations, results and heartbeats pass',
  { timeout: 300_000 },
  async () => {
    const { call, domainId, simulate } = await startPlane()
    await call('PUT', `/v1/domains/${domainId}/capacity/targets`, { observability_ingest: TARGET })
    const habits = ['--reports', '100%/s', '--report-bytes', '4096', '--violations', '30%/min']
    const failOn = 'refusals>0,errors>0,unsent_reports>0,p99(heartbeat)>2s'
    const times = ['--duration', '20s', '--heartbeat-interval', '1s']
    const fleet = simulate(['--nodes', String(AGENTS), '--no-events', ...times, ...habits, '--fail-on', failOn])
    await expect.poll(fleet.progress, { timeout: 120_000 }).toContain('"phase":"running"')
    const { items } = await call('GET', `/v1/nodes?limit=${EXECUTED}`)
    for (const { id } of items as readonly { readonly id: string }[])
      await call('POST', `/v1/nodes/${id}/executions`, { action: 'ping', type: 'builtin' })

    const { exitCode, stdout } = await fleet.ended
    const summary = JSON.parse(stdout) as {
      readonly failures: readonly { readonly operation: string; readonly code: string }[]
      readonly failed_conditions: readonly string[]
      readonly [count: string]: unknown
    }
    expect(
      summary.failures.filter(({ operation, code }) => code !== 'capacity_exceeded' || !REFUSED.has(operation)),
    ).toEqual([])
    expect(summary).toMatchObject({ errors: 0, unsent_reports: 0 })
    expect(exitCode).toBe(10)
    expect(summary.failed_conditions).toEqual([expect.stringMatching(/^refusals>0/)])
    const refused = { code: 'capacity_exceeded', dimension: 'observability_ingest', count: expect.any(Number) }
    expect(summary.failures).toContainEqual({ operation: 'report', ...refused })
    expect(summary['violations_reported']).toBeGreaterThan(0)
  },
)

/** A server of its own, which takes samples each second: targets take effect with the next one. */
async function startPlane() {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-ingest-'))
  const tokenFile = join(folder, 'token')
  const args = ['--data-dir', join(folder, 'data'), '--bootstrap-token-file', tokenFile]
  const server = await startCtl({ args: [...args, '--capacity-sample-interval', '1s'], env: {} })
  onTestFinished(async () => {
    await server.end('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  })
  const token = readFileSync(tokenFile, 'utf8').trim()
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await callServer(server, { token, method, path, ...(body !== undefined && { body }) })
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const { domain_id: domainId } = await call('GET', '/v1/auth/whoami')
  return {
    call,
    domainId: String(domainId),
    simulate: (words: readonly string[]) =>
      startSimulation({ CTL_URL: server.url, CTL_TOKEN: token, CTL_CONFIG_DIR: folder }, [...words, '-o', 'json']),
  }
}
