import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { depth } from '../support/run/depth.ts'
import { isProxiedMissing, startProxiedReplicas, type ProxiedReplicas } from '../support/server/proxied-replicas.ts'
import { enrol } from '../support/server/replicas.ts'
import { startSimulation } from '../support/fleet/simulation.ts'

const ROUNDS = depth({ ci: 1, deep: 10 })
const AGENTS = 100
const FLEET_SECONDS = depth({ ci: 30, deep: 120 })
const FAIL_ON = 'missed_events>0,bad_signatures>0'

describe.skipIf(isProxiedMissing)('a fleet whose servers crash', () => {
  let replicas: ProxiedReplicas
  beforeAll(async () => {
    replicas = await startProxiedReplicas()
  }, 180_000)
  afterAll(() => replicas?.stop(), 60_000)

  /** What is killed. Each is back when it is done. */
  const crashes: Readonly<Record<string, () => Promise<void>>> = {
    async 'the leader'() {
      const index = await replicas.leader()
      await replicas.end(index, 'SIGKILL')
      await replicas.leader()
      await replicas.start(index)
    },
    async 'both servers at once'() {
      await Promise.all([replicas.end(0, 'SIGKILL'), replicas.end(1, 'SIGKILL')])
      await Promise.all([replicas.start(0), replicas.start(1)])
    },
    async PostgreSQL() {
      await replicas.cluster.end('SIGQUIT')
      await replicas.cluster.start()
      await replicas.leader()
    },
    async NATS() {
      await replicas.nats.end('SIGKILL')
      await replicas.nats.start()
    },
  }

  test(`misses no event while each is killed ${ROUNDS} times`, { timeout: (ROUNDS * 120 + 240) * 1_000 }, async () => {
    const left = Array.from({ length: ROUNDS }, () => Object.values(crashes)).flat()
    // On a slow machine one fleet does not live to see all of them.
    while (left.length > 0) await underFleet(left)
  })

  /** Takes crashes off the list, one after the other, as long as a fleet lives, and holds the fleet to have missed nothing. */
  async function underFleet(left: (() => Promise<void>)[]): Promise<void> {
    const args = ['--nodes', String(AGENTS), '--duration', `${FLEET_SECONDS}s`, '--heartbeat-interval', '2s']
    const fleet = startSimulation(replicas.env, [...args, '--deregister', '--fail-on', FAIL_ON, '-o', 'json'])
    await expect.poll(fleet.progress, { timeout: 120_000 }).toContain('"phase":"running"')
    const untilMs = performance.now() + FLEET_SECONDS * 1_000
    while (performance.now() < untilMs) {
      // Events are on their way when it happens, and others come of what is asked for right after it.
      await enrolled(2)
      await left.shift()?.()
      await enrolled(1)
      if (left.length === 0) break
    }
    const { exitCode, stdout, stderr } = await fleet.ended
    expect([exitCode, stderr.split('\n').slice(-5)]).toMatchObject([0, expect.anything()])
    const counts = JSON.parse(stdout) as Record<string, number>
    expect(counts).toMatchObject({ missed_events: 0, bad_signatures: 0 })
    expect(counts['events']).toBeGreaterThan(AGENTS)
  }

  /** Lets nodes join, of which the others hear; what is away may refuse them for a while. */
  async function enrolled(nodes: number): Promise<void> {
    const join = (): Promise<unknown> => enrol(replicas, { ...replicas, nodes }).catch(() => undefined)
    await expect.poll(join, { timeout: 60_000, interval: 200 }).toBeDefined()
  }
})
