import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, type TestContext } from 'vitest'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { startSimulation } from '../support/fleet/simulation.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startCtl, type CtlProcess, type CtlResult } from '../support/server/ctl-process.ts'
import { callServer } from '../support/server/replicas.ts'

const AGENTS = 12
const BRIDGES = 3
const FAIL_ON = ['missed_events', 'bad_signatures', 'bad_bridge_configs', 'bad_envelopes', 'bridge_drift']
  .map((count) => `${count}>0`)
  .join()

/** Bridges change a few times a second, before, during and after the restarts. */
const SCENARIO = `name: crashes
rates: { bridge_changes: 6000%/min, pulls: 0%/min, reports: 0%/min }
phases:
  - { name: before, duration: 4s }
  - { name: crashes, duration: 60s, faults: { server_restart: } }
  - { name: after, duration: 6s }
`

const WORDS =
  `--nodes ${AGENTS} --heartbeat-interval 1s --bridges ${BRIDGES} --bridge-hosts 3 --fail-on ${FAIL_ON} -o json`.split(
    ' ',
  )

/** Statements of the process that carries events on, at which it is killed: the changes are committed, and not yet sent. */
const STAGES = [
  ['with fresh as ( select id, row_number', 'before'],
  ['with added as', 'before'],
  ['with added as', 'answered'],
] as const

// Both fleets live for more than a minute each, and do little in it.
describe.concurrent('kill -9 between the commit of a change and its event', () => {
  test('leaves no host on an old configuration on the embedded datastore', { timeout: 300_000 }, async (context) => {
    const plane = await startPlane(context, {})
    const fleet = plane.simulate()
    await context.expect.poll(fleet.progress, { timeout: 120_000, interval: 100 }).toMatch(IN_CRASHES)
    for (let round = 0; round < STAGES.length; round += 1) {
      // The answer comes with the commit, ahead of the event.
      await plane.changeBridge()
      await plane.kill()
      await plane.start()
    }
    const ended = await fleet.ended
    expect(await plane.behind()).toEqual([])
    expectInSync(ended)
  })

  test.skipIf(requirement('postgresql') === undefined)(
    'leaves no host on an old configuration on PostgreSQL, wherever it comes',
    { timeout: 300_000 },
    async (context) => {
      const cluster = await startPostgresCluster()
      context.onTestFinished(() => cluster.stop())
      const plane = await startPlane(context, { SERVICE_DATABASE_URL: cluster.url })
      const fleet = plane.simulate()
      await context.expect.poll(fleet.progress, { timeout: 120_000, interval: 100 }).toMatch(IN_CRASHES)
      for (const [begins, when] of STAGES) {
        await plane.kill()
        const armed = await plane.start({ NODE_OPTIONS: killingAt(begins, when) })
        // The bridges change further, so that it comes to the statement by itself.
        expect(await armed.ended()).toBe('SIGKILL')
        await plane.start()
      }
      const ended = await fleet.ended
      expect(await plane.behind()).toEqual([])
      expectInSync(ended)
    },
  )
})

/** The simulator is in the phase that expects crashes, and bridges change. */
const IN_CRASHES = /"phase":"running","nodes":12,"elapsed_seconds":(?:[5-9]|\d\d),.*"bridge_changes":[1-9]/

function expectInSync({ exitCode, stdout, stderr }: CtlResult): void {
  expect([exitCode, stderr.split('\n').filter((line) => line.startsWith('warning: --fail-on'))]).toEqual([0, []])
  const counts = JSON.parse(stdout) as Readonly<Record<string, number>>
  expect(counts).toMatchObject({ bridge_drift: 0, missed_events: 0, bad_bridge_configs: 0 })
  expect(counts['outage_errors']).toBeGreaterThan(0)
  expect(counts['bridge_changes']).toBeGreaterThan(BRIDGES)
  expect(counts['bridge_configs']).toBeGreaterThan(BRIDGES)
  expect(counts['secrets_fetched']).toBeGreaterThan(BRIDGES)
}

/** A server that can be killed and started again at its address. */
async function startPlane({ onTestFinished }: TestContext, env: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-bridge-crash-'))
  const scenario = join(folder, 'crashes.yaml')
  writeFileSync(scenario, SCENARIO)
  const tokenFile = join(folder, 'token')
  const args = ['--data-dir', join(folder, 'data'), '--bootstrap-token-file', tokenFile]
  let server: CtlProcess = await startCtl({ args, env })
  const { host } = new URL(server.url)
  onTestFinished(async () => {
    await server.end('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const token = readFileSync(tokenFile, 'utf8').trim()
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await callServer(server, { token, method, path, ...(body !== undefined && { body }) })
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body as { readonly items: readonly { readonly id: string; readonly slug: string }[] }
  }
  let ports = 30_000

  /** The paths of the bridges of the simulator. */
  async function bridgesOfFleet(): Promise<readonly string[]> {
    const { domain_id: domainId } = (await call('GET', '/v1/auth/whoami')) as unknown as { domain_id: string }
    const { items: projects } = await call('GET', `/v1/domains/${domainId}/projects?limit=200`)
    const resources = `/v1/projects/${projects.find(({ slug }) => slug.startsWith('sim-bridges-'))?.id ?? ''}/resources`
    const { items: bridges } = await call('GET', resources)
    return bridges.map(({ id }) => `${resources}/${id}/bridge`)
  }

  return {
    /** Changes the relay of a bridge. */
    async changeBridge(): Promise<void> {
      const [path = ''] = await bridgesOfFleet()
      ports += 1
      await call('PUT', `${path}/relay`, { enabled: true, listen_port: ports })
    },
    /** The status of each bridge of which a host is not in sync. */
    async behind(): Promise<readonly unknown[]> {
      const paths = await bridgesOfFleet()
      expect(paths).toHaveLength(BRIDGES)
      const all = await Promise.all(paths.map((path) => call('GET', `${path}/status`)))
      return all.filter((status) => JSON.stringify(status).includes('"in_sync":false'))
    },
    simulate: () =>
      startSimulation({ CTL_URL: server.url, CTL_TOKEN: token, CTL_CONFIG_DIR: folder }, [
        ...WORDS,
        '--scenario',
        scenario,
      ]),
    kill: () => server.end('SIGKILL'),
    async start(more: Readonly<Record<string, string>> = {}): Promise<CtlProcess> {
      server = await startCtl({ args, env: { ...env, ...more }, listen: host })
      return server
    },
  }
}

function killingAt(begins: string, when: string): string {
  const preload = new URL('../support/datastores/kill-at-statement.mjs', import.meta.url)
  preload.search = new URLSearchParams({ begins, when }).toString()
  return `--import=${preload.href}`
}
