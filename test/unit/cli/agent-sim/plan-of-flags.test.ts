import { expect, test } from 'vitest'
import { planOf } from '../../../../src/cli/agent-sim/plan-of-flags.ts'

test('by default a run lasts a minute, with a heartbeat every 30 s and without warm-up', async () => {
  expect(await planOf({})).toMatchObject({ durationMs: 60_000, warmUpMs: 0, heartbeatIntervalMs: 30_000, nodes: 10 })
  expect(await planOf({ duration: 300, 'warm-up': 90 })).toMatchObject({ durationMs: 300_000, warmUpMs: 90_000 })
})

test.each([60, 61])('a warm-up of %d s is refused for a run of a minute', async (warmUp) => {
  await expect(planOf({ 'warm-up': warmUp })).rejects.toThrow('--warm-up takes less than --duration')
})

test.each([
  [{ nodes: 0 }, '--nodes'],
  [{ edges: -1 }, '--edges'],
  [{ concurrency: 0 }, '--concurrency'],
  [{ pulls: 'often' }, '--pulls takes a rate'],
  [{ 'heartbeat-interval': 0 }, '--heartbeat-interval takes a duration from 0.1s to 24d'],
  [{ 'heartbeat-interval': 0.05 }, '--heartbeat-interval takes a duration from 0.1s to 24d'],
  [{ duration: 0 }, '--duration takes a duration from 0.1s to 24d'],
  [{ duration: 25 * 86_400 }, '--duration takes a duration from 0.1s to 24d'],
])('%o is refused with its name', async (flags, said) => {
  await expect(planOf(flags)).rejects.toThrow(said)
})
