import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCtl, type CtlResult } from '../support/server/ctl-process.ts'
import { isProxiedMissing, startProxiedReplicas, type ProxiedReplicas } from '../support/server/proxied-replicas.ts'
import { enrol } from '../support/server/replicas.ts'
import { startSimulation } from '../support/fleet/simulation.ts'

const AGENTS = 1_000
const FAIL_ON = 'missed_events>0,bad_signatures>0'

describe.skipIf(isProxiedMissing)('two replicas behind a proxy', () => {
  let replicas: ProxiedReplicas
  beforeAll(async () => {
    replicas = await startProxiedReplicas()
  }, 180_000)
  afterAll(() => replicas?.stop(), 60_000)

  test(
    'restart one after the other under a thousand agents: no event is missed, and every call of the command line succeeds',
    { timeout: 600_000 },
    async () => {
      const { env } = replicas
      const args = ['--nodes', String(AGENTS), '--duration', '45s', '--heartbeat-interval', '5s', '--no-mesh']
      const fleet = startSimulation(env, [...args, '--fail-on', FAIL_ON, '-o', 'json'])
      await expect.poll(fleet.progress, { timeout: 240_000 }).toContain('"phase":"running"')
      const calling = new AbortController()
      const calls = exitCodesUntil(calling.signal, () => runCtl(['nodes', 'list', '--limit', '1'], env))
      for (const index of [0, 1] as const) {
        expect(await replicas.end(index, 'SIGTERM')).toBe(0)
        // A thousand nodes have to hear of each node that comes while one of the replicas is away.
        await enrol(replicas, { ...replicas, nodes: 3 })
        await replicas.start(index)
      }
      await enrol(replicas, { ...replicas, nodes: 3 })
      calling.abort()
      expect(new Set(await calls)).toEqual(new Set([0]))
      const { exitCode, stdout, stderr } = await fleet.ended
      expect([exitCode, stderr.split('\n').slice(-5)]).toMatchObject([0, expect.anything()])
      const { events, missed_events: missed } = JSON.parse(stdout) as Record<string, number>
      expect(missed).toBe(0)
      expect(events).toBeGreaterThan(3 * AGENTS)
    },
  )
})

/** Makes one call after another. */
async function exitCodesUntil(
  signal: AbortSignal,
  call: () => Promise<CtlResult>,
): Promise<readonly (number | null)[]> {
  const codes: (number | null)[] = []
  while (!signal.aborted) codes.push((await call()).exitCode)
  return codes
}
