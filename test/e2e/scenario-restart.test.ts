import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { startSimulation, warningsOf } from '../support/fleet/simulation.ts'

const AGENTS = 30
/** Seconds before the restart is expected, while it is, and after it. */
const [BEFORE, EXPECTED, AFTER] = [4, 30, 6]
const FAIL_ON = ['errors', 'refusals', 'missed_events', 'bad_signatures', 'edge_mismatches', 'stale_edges']
  .map((count) => `${count}>0`)
  .join()

const folder = mkdtempSync(join(tmpdir(), 'ctl-scenario-'))
const scenario = join(folder, 'restart.yaml')
writeFileSync(
  scenario,
  `name: a restart
rates: { endpoint_changes: 100%/min, pulls: 100%/min }
phases:
  - { name: before, duration: ${BEFORE}s }
  - { name: restart now, duration: ${EXPECTED}s, faults: { server_restart: } }
  - { name: after, duration: ${AFTER}s }
`,
)

let server: CtlProcess | undefined
const args = ['--data-dir', join(folder, 'data'), '--bootstrap-token-file', join(folder, 'token')]
const start = async (listen: string): Promise<CtlProcess> => (server = await startCtl({ args, listen }))
afterAll(async () => {
  await server?.end('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
})

test('a fleet whose scenario tells of a restart misses nothing over it, and calls nothing an error', async () => {
  const first = await start('127.0.0.1:0')
  const { host } = new URL(first.url)
  const env = {
    CTL_URL: first.url,
    CTL_TOKEN: readFileSync(join(folder, 'token'), 'utf8').trim(),
    CTL_CONFIG_DIR: folder,
  }
  const words = ['--nodes', String(AGENTS), '--heartbeat-interval', '1s', '--scenario', scenario]
  const fleet = startSimulation(env, [...words, '--fail-on', FAIL_ON, '-o', 'json'])
  // It says every five seconds where it stands.
  const since = /"phase":"running","nodes":\d+,"elapsed_seconds":([5-9]|1\d),/
  await expect.poll(fleet.progress, { timeout: 120_000 }).toMatch(since)
  expect(await first.end('SIGKILL')).toBe('SIGKILL')
  await start(host)
  const { exitCode, stdout, stderr } = await fleet.ended
  expect([exitCode, warningsOf(stderr)]).toEqual([0, []])
  const counts = JSON.parse(stdout) as Readonly<Record<string, number>>
  // The server was away for longer than a heartbeat's interval, and its streams broke.
  expect(counts['outage_errors']).toBeGreaterThan(0)
  expect(counts['stream_reconnects']).toBeGreaterThanOrEqual(AGENTS)
  expect(counts).toMatchObject({ registrations: AGENTS, errors: 0, missed_events: 0 })
}, 240_000)
