import { afterEach, describe, expect, test } from 'vitest'
import { TransportFailure } from '../../../../src/client/failures.ts'
import { attempt, type CallTerms } from '../../../../src/cli/agent-sim/attempt.ts'
import { agentWorld, refusal, type AgentWorld } from '../../../support/fleet/mesh-agents.ts'

describe('A call of an agent', () => {
  const worlds: AgentWorld[] = []
  afterEach(() => worlds.splice(0).forEach((world) => world.end()))

  /** Makes a call that fails as told, one failure for each try, and then succeeds. */
  async function call(failures: readonly Error[], terms: Partial<CallTerms> & { isOutage?: boolean } = {}) {
    const world = agentWorld({})
    worlds.push(world)
    const [node] = world.nodes
    if (node === undefined) throw new Error('no node')
    const { isOutage = false, ...own } = terms
    const left = [...failures]
    const outcome = attempt({ ...world.deps, isOutage: () => isOutage }, node, {
      operation: 'heartbeat',
      isRepeatable: true,
      ...own,
      call: async () => {
        const failure = left.shift()
        if (failure !== undefined) throw failure
        return 'answer'
      },
    })
    await world.clock.advance(60_000)
    return { outcome: await outcome, count: world.count, world, node }
  }

  const broken = () => new TransportFailure('broken', 'the connection broke')

  test.each([
    ['a server that stops', () => refusal(503, 'shutting_down')],
    ['a broken connection', broken],
    ['nobody there', () => new TransportFailure('unreachable', 'no connection')],
  ])('is repeated after %s and counted as a retry only', async (_, failure) => {
    const { outcome, count } = await call([failure(), failure()])
    expect(outcome).toEqual({ ok: true, value: 'answer', tries: 3 })
    expect([count('retries'), count('errors'), count('heartbeats')]).toEqual([2, 0, 1])
  })

  test('is tried eight times and then counted as one error', async () => {
    const { outcome, count } = await call(Array.from({ length: 20 }, broken))
    expect(outcome).toEqual({ ok: false, code: 'broken', tries: 8 })
    expect([count('retries'), count('errors')]).toEqual([7, 1])
  })

  test('that is not repeatable is made once', async () => {
    const { outcome, count } = await call([broken()], { isRepeatable: false })
    expect(outcome).toMatchObject({ ok: false, tries: 1 })
    expect([count('retries'), count('errors')]).toEqual([0, 1])
  })

  test.each(['internal', 'datastore_unavailable', 'unauthorized'])(
    'refused with %s is an error at once',
    async (code) => {
      const { count } = await call([refusal(500, code)])
      expect([count('retries'), count('errors')]).toEqual([0, 1])
    },
  )

  test('that fails during an expected outage is not an error', async () => {
    const { count, world } = await call([refusal(500, 'internal')], { isOutage: true })
    expect([count('outage_errors'), count('errors')]).toEqual([1, 0])
    expect(world.statistics.summary().expected).toEqual([{ operation: 'heartbeat', code: 'internal', count: 1 }])
  })

  test('that is invalid is an error even during an expected outage', async () => {
    const { count } = await call([refusal(400, 'invalid_body')], { isOutage: true })
    expect([count('outage_errors'), count('errors')]).toEqual([0, 1])
  })

  test('that a fault requires to be refused is counted as expected, and as unmet if it succeeds', async () => {
    const refused = await call([refusal(400, 'clock_skew')], { expects: 'clock_skew' })
    expect([refused.count('expected_refusals'), refused.count('errors')]).toEqual([1, 0])
    const passed = await call([], { expects: 'clock_skew' })
    expect([passed.count('expected_refusals'), passed.count('unmet_faults')]).toEqual([0, 1])
  })

  test('of an operation that the server does not provide is not made again', async () => {
    const { count, world, node } = await call([refusal(501, 'endpoint_not_provisioned')])
    const again = await attempt(world.deps, node, {
      operation: 'heartbeat',
      isRepeatable: true,
      call: () => Promise.reject(new Error('it was called')),
    })
    expect([again.ok, count('not_provisioned'), count('errors')]).toEqual([false, 1, 0])
  })

  test('throws an unexpected error', async () => {
    const world = agentWorld({})
    worlds.push(world)
    const [node] = world.nodes
    if (node === undefined) throw new Error('no node')
    const bug = new Error('a bug')
    const terms = { operation: 'heartbeat', isRepeatable: true, call: () => Promise.reject(bug) } as const
    await expect(attempt(world.deps, node, terms)).rejects.toBe(bug)
  })
})
