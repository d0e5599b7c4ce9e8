import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Simulation } from '../support/fleet/simulation.ts'
import { startFleet } from '../support/outages/fleet.ts'
import { describeOutages } from '../support/outages/outage.ts'
import { startWorld, type World } from '../support/outages/world.ts'
import { requirement } from '../support/run/requirements.mjs'

const NODES = 20
/** About as long as the outages take together. */
const FLEET_SECONDS = 57

const isMissing = (['postgresql', 'nats-server'] as const).some((name) => requirement(name) === undefined)

describe.skipIf(isMissing)('a server whose datastore or event stream goes and comes back', () => {
  let world: World
  let fleet: Simulation

  beforeAll(async () => {
    world = await startWorld(['PostgreSQL', 'NATS'])
    fleet = await startFleet(world.plane, { folder: world.folder, nodes: NODES, seconds: FLEET_SECONDS })
  }, 240_000)
  afterAll(() => world?.end(), 120_000)

  describeOutages(['PostgreSQL', 'NATS'], () => world)

  test('no node of the fleet misses an event', { timeout: 240_000 }, async () => {
    const { exitCode, stdout } = await fleet.ended
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { missed_events: 0 }])
  })
})
