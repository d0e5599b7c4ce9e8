import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { startNatsServer, type NatsServer } from '../support/events/nats-server.ts'
import type { Simulation } from '../support/fleet/simulation.ts'
import { HOWS, natsDependency, postgresDependency, type Dependency } from '../support/outages/dependencies.ts'
import { startFleet } from '../support/outages/fleet.ts'
import { expectComplete, holdToTable } from '../support/outages/outage.ts'
import { startPlane, type Plane } from '../support/outages/plane.ts'
import { requirement } from '../support/run/requirements.mjs'

const NODES = 20
/** About as long as the outages take together. */
const FLEET_SECONDS = 70

const isMissing = (['postgresql', 'nats-server'] as const).some((name) => requirement(name) === undefined)

describe.skipIf(isMissing)('a server whose datastore or event stream goes and comes back', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-outages-'))
  let cluster: PostgresCluster
  let nats: NatsServer
  let dependencies: Readonly<Record<string, Dependency>>
  let plane: Plane
  let fleet: Simulation

  beforeAll(async () => {
    ;[cluster, nats] = await Promise.all([startPostgresCluster({ isDurable: false }), startNatsServer()])
    const [postgres, stream] = [await postgresDependency(cluster), await natsDependency(nats)]
    dependencies = { PostgreSQL: postgres, NATS: stream }
    plane = await startPlane({
      folder,
      name: 'embedded',
      databaseUrl: (await cluster.createDatabase()).replace(new URL(cluster.url).host, postgres.address),
      env: { SERVICE_NATS_URL: `nats://${stream.address}` },
    })
    fleet = await startFleet(plane, { folder, nodes: NODES, seconds: FLEET_SECONDS })
  }, 240_000)
  afterAll(async () => {
    await plane?.stop()
    await Promise.all(Object.values(dependencies).map((each) => each.close()))
    await Promise.all([cluster.stop(), nats.stop()])
    rmSync(folder, { recursive: true, force: true })
  }, 120_000)

  const given = (name: string): Dependency => {
    const found = dependencies[name]
    if (found === undefined) throw new Error(`${name} was not started`)
    return found
  }

  describe.each(['PostgreSQL', 'NATS'])('%s', (name) => {
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

  test('no node of the fleet misses an event', { timeout: 240_000 }, async () => {
    const { exitCode, stdout } = await fleet.ended
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { missed_events: 0 }])
  })
})
