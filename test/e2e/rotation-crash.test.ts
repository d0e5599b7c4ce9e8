import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, type TestContext } from 'vitest'
import { runCtl, startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { depth } from '../support/run/depth.ts'
import { freePort, startPostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { callServer } from '../support/server/replicas.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startSimulation } from '../support/fleet/simulation.ts'

const ROUNDS = depth({ ci: 1, deep: 10 })
const AGENTS = 30
const WAVE = ['--batch', '5', '--pause', '0s', '--pause-on', 'never', '--wave-timeout', '2m', '--proof-timeout', '3m']
/** Runs of the command that a round may take: each outage may end one. */
const RUNS_MAX = 10

// Most of the time goes into waiting for the agents of both fleets.
describe.concurrent('waves of rotations under a server that is killed', () => {
  const stores = [
    { store: 'the embedded datastore', isMissing: false, databaseUrl: async () => undefined },
    {
      store: 'PostgreSQL',
      isMissing: requirement('postgresql') === undefined,
      async databaseUrl({ onTestFinished }: TestContext) {
        const cluster = await startPostgresCluster()
        onTestFinished(() => cluster.stop())
        return cluster.url
      },
    },
  ]

  for (const { store, isMissing, databaseUrl } of stores) {
    test.skipIf(isMissing)(
      `leave no edge without a common key and lose no rotation on ${store}`,
      { timeout: (ROUNDS * 240 + 240) * 1_000 },
      async (context) => {
        const plane = await startPlane(context, await databaseUrl(context))
        const life = ['--nodes', String(AGENTS), '--duration', '2h', '--heartbeat-interval', '1s', '--edges', '4']
        const fleet = startSimulation(plane.env, [...life, '-o', 'json'])
        await context.expect.poll(fleet.progress, { timeout: 240_000 }).toContain('"phase":"running"')
        for (let round = 0; round < ROUNDS; round += 1) await rotateUnderKills(plane, round)
        fleet.interrupt()
        const { exitCode, stdout } = await fleet.ended
        expect(exitCode).toBe(130)
        const counts = JSON.parse(stdout) as Record<string, number>
        expect(counts).toMatchObject({
          missed_events: 0,
          bad_signatures: 0,
          edge_mismatches: 0,
          bad_envelopes: 0,
          epoch_regressions: 0,
        })
        // An agent whose answer was lost may have completed a rotation that it does not count.
        expect(counts['key_rotations']).toBeGreaterThan(0)
      },
    )
  }

  /** Rotates all nodes, and goes on as often as the server's end ends the command; its proof at the end has to hold. */
  async function rotateUnderKills(plane: Plane, round: number): Promise<void> {
    let since: string | undefined
    const killing = killSoon(plane, 500 + 700 * (round % 4))
    for (let run = 0; run < RUNS_MAX; run += 1) {
      const from = since === undefined ? [] : ['--since', since]
      const { exitCode, stderr } = await runCtl(['nodes', 'rotate', '--all', '--yes', ...WAVE, ...from], plane.env)
      since ??= /Keys issued at (\S+) or later/.exec(stderr)?.[1]
      await killing
      if (exitCode === 0 && since !== undefined) {
        expect(stderr).toContain('agree with the server')
        await expectRotated(plane, since)
        return
      }
    }
    throw new Error(`the nodes were not rotated in ${RUNS_MAX} runs`)
  }

  async function killSoon(plane: Plane, afterMs: number): Promise<void> {
    await sleep(afterMs)
    await plane.killAndRestart()
  }

  async function expectRotated(plane: Plane, since: string): Promise<void> {
    const { body } = await callServer(plane.server(), { token: plane.token, path: '/v1/nodes?limit=200' })
    const nodes = body['items'] as readonly { readonly psk_issued_at: string; readonly rotation_pending: boolean }[]
    expect(nodes).toHaveLength(AGENTS)
    for (const node of nodes) {
      expect(node.rotation_pending).toBe(false)
      expect(node.psk_issued_at >= since).toBe(true)
    }
  }
})

interface Plane {
  readonly token: string
  readonly env: Readonly<Record<string, string>>
  server(): CtlProcess
  /** `kill -9`, and the same server again at the same address. */
  killAndRestart(): Promise<void>
}

async function startPlane({ onTestFinished }: TestContext, databaseUrl: string | undefined): Promise<Plane> {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-rotation-crash-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const tokenFile = join(folder, 'token')
  const options = {
    args: ['--data-dir', join(folder, 'data'), '--bootstrap-token-file', tokenFile],
    listen: `127.0.0.1:${await freePort()}`,
    ...(databaseUrl !== undefined && { env: { SERVICE_DATABASE_URL: databaseUrl } }),
  }
  let server = await startCtl(options)
  onTestFinished(async () => void (await server.end('SIGTERM')))
  const token = readFileSync(tokenFile, 'utf8').trim()
  return {
    token,
    env: { CTL_URL: server.url, CTL_TOKEN: token, CTL_CONFIG_DIR: join(folder, 'config') },
    server: () => server,
    async killAndRestart() {
      await server.end('SIGKILL')
      server = await startCtl(options)
    },
  }
}
