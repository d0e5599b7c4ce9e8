import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startSpicedb } from '../support/authz/spicedb-server.ts'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { startNatsServer } from '../support/events/nats-server.ts'
import { startBaoEmulator } from '../support/openbao/emulator.ts'
import {
  natsDependency,
  postgresDependency,
  relayedDependency,
  spicedbDependency,
  type Dependency,
  type How,
} from '../support/outages/dependencies.ts'
import { startFleet } from '../support/outages/fleet.ts'
import { startMarathonClient } from '../support/outages/marathon-client.ts'
import { startPlane, type Plane } from '../support/outages/plane.ts'
import { depth } from '../support/run/depth.ts'
import { requirement } from '../support/run/requirements.mjs'

const fromEnv = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise)
const SECONDS = fromEnv('CTL_TEST_OUTAGES_SECONDS', depth({ ci: 60, deep: 1_800 }))
const NODES = fromEnv('CTL_TEST_OUTAGES_NODES', depth({ ci: 50, deep: 2_000 }))
/** A deep run kills and freezes each dependency; an ordinary one does one of the two. */
const HOWS = depth<readonly How[]>({ ci: [], deep: ['stopped', 'frozen'] })
const SEED = fromEnv('CTL_TEST_OUTAGES_SEED', Date.now() % 100_000)
/** A simulated node is ephemeral: it must not stay away for minutes. */
const OUTAGE_SECONDS_MAX = 40

const isMissing = (['postgresql', 'nats-server', 'spicedb'] as const).some((name) => requirement(name) === undefined)

describe.skipIf(isMissing)('under a fleet and a client that changes things', () => {
  test(
    `no acknowledged write is lost and no event missed, whatever dies (${SECONDS} s, ${NODES} nodes, seed ${SEED})`,
    { timeout: (SECONDS * 2 + 900) * 1000 },
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'ctl-marathon-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      const { plane, dependencies } = await startWorld(folder)
      const fleet = await startFleet(plane, {
        folder,
        nodes: NODES,
        seconds: SECONDS + 10,
        heartbeatSeconds: NODES > 200 ? 10 : 1,
      })
      const client = await startMarathonClient(plane)
      const outages = shuffled(dependencies.flatMap((dependency) => waysFor(dependency)))
      const slotSeconds = SECONDS / outages.length
      const outageSeconds = Math.min(OUTAGE_SECONDS_MAX, slotSeconds / 3)
      for (const { dependency, how } of outages) {
        await dependency.fail(how)
        await sleep(outageSeconds * 1000)
        await dependency.recover(how)
        await sleep((slotSeconds - outageSeconds) * 1000)
      }
      const lost = await client.finish()
      const { exitCode, stdout } = await fleet.ended
      const summary = JSON.parse(stdout) as Summary
      report({ outages, client, summary })
      expect(lost).toEqual([])
      expect(client.acknowledged()).toBeGreaterThan(SECONDS / 2)
      expect([...client.undocumented]).toEqual([])
      expect(exitCode).toBe(0)
      expect(summary).toMatchObject({ missed_events: 0, bad_signatures: 0 })
      expect(summary.failures.filter(({ code }) => !OF_OUTAGES.has(code))).toEqual([])
    },
  )
})

interface Summary {
  readonly operations: number
  readonly missed_events: number
  readonly failures: readonly { readonly operation: string; readonly code: string; readonly count: number }[]
}

/** What agents may meet in an outage; `timeout` is that of the simulator, `internal` of a write that failed half-way. */
const OF_OUTAGES: ReadonlySet<string> = new Set([
  'authz_unavailable',
  'datastore_unavailable',
  'event_stream_unavailable',
  'secret_store_unavailable',
  'signing_unavailable',
  'internal',
  'overloaded',
  'timeout',
])

interface Outage {
  readonly dependency: Dependency
  readonly how: How
}

/** An ordinary run plays one way for each dependency, and both ways in all. */
function waysFor(dependency: Dependency): readonly Outage[] {
  if (HOWS.length > 0) return HOWS.map((how) => ({ dependency, how }))
  return [{ dependency, how: dependency.name === 'PostgreSQL' || dependency.name === 'OpenBao' ? 'stopped' : 'frozen' }]
}

/** Fisher-Yates over a linear congruential generator. */
function shuffled(outages: readonly Outage[]): readonly Outage[] {
  let state = SEED
  const rest = [...outages]
  return outages.flatMap(() => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return rest.splice(state % rest.length, 1)
  })
}

async function startWorld(folder: string): Promise<{ plane: Plane; dependencies: readonly Dependency[] }> {
  const [cluster, nats, spicedb, bao] = await Promise.all([
    startPostgresCluster({ isDurable: false }),
    startNatsServer(),
    startSpicedb(),
    startBaoEmulator(),
  ])
  const [postgres, stream, engine, store] = await Promise.all([
    postgresDependency(cluster),
    natsDependency(nats),
    spicedbDependency(spicedb),
    relayedDependency('OpenBao', bao.url),
  ])
  writeFileSync(join(folder, 'spicedb-token'), `${spicedb.token}\n`, { mode: 0o600 })
  writeFileSync(join(folder, 'bao-token'), bao.issue(), { mode: 0o600 })
  const plane = await startPlane({
    folder,
    name: 'marathon',
    databaseUrl: (await cluster.createDatabase()).replace(new URL(cluster.url).host, postgres.address),
    env: {
      SERVICE_NATS_URL: `nats://${stream.address}`,
      SERVICE_SPICEDB_ENDPOINT: engine.address,
      SERVICE_SPICEDB_TOKEN_FILE: join(folder, 'spicedb-token'),
      SERVICE_SECRET_STORE_URL: `http://${store.address}`,
      SERVICE_SECRET_STORE_TOKEN_FILE: join(folder, 'bao-token'),
    },
  })
  const dependencies = [postgres, stream, engine, store]
  onTestFinished(async () => {
    await plane.stop()
    await Promise.all(dependencies.map((each) => each.close()))
    await Promise.all([cluster.stop(), nats.stop(), spicedb.close(), bao.stop()])
  })
  return { plane, dependencies }
}

function report({
  outages,
  client,
  summary,
}: {
  readonly outages: readonly Outage[]
  readonly client: { readonly answers: object; readonly undocumented: ReadonlySet<string>; acknowledged(): number }
  readonly summary: Summary
}): void {
  const played = outages.map(({ dependency, how }) => `${dependency.name} ${how}`)
  const { operations, missed_events, failures } = summary
  process.stdout.write(
    JSON.stringify(
      {
        played,
        acknowledged: client.acknowledged(),
        answers: client.answers,
        undocumented: [...client.undocumented],
        operations,
        missed_events,
        failures,
      },
      null,
      2,
    ),
  )
}
