import { afterEach, describe, expect, test } from 'vitest'
import { ProblemAnswer, TransportFailure } from '../../../../../src/client/failures.ts'
import { attempt, type CallTerms } from '../../../../../src/client/agent/calls/attempt.ts'
import { agentWorld, refusal, type AgentWorld } from '../../../../support/fleet/mesh-agents.ts'

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
    const startMs = world.clock.now()
    const madeAtMs: number[] = []
    const outcome = attempt({ ...world.deps, isOutage: () => isOutage }, node, {
      operation: 'heartbeat',
      isRepeatable: true,
      ...own,
      call: async () => {
        madeAtMs.push(world.clock.now() - startMs)
        const failure = left.shift()
        if (failure !== undefined) throw failure
        return 'answer'
      },
    })
    await world.clock.advance(60_000)
    return { outcome: await outcome, count: world.count, madeAtMs, world, node }
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

  /** The refusal of a limit that asks for so many seconds. */
  const limited = (code: string, seconds: number, more = {}) =>
    new ProblemAnswer({ status: 429, code, title: code, detail: code, ...more }, seconds)

  test.each(['capacity_exceeded', 'per_node_rate_limited', 'per_domain_rate_limited', 'session_limit_exceeded'])(
    'that a limit refuses with %s is made again after the time that the server asks for, and not before',
    async (code) => {
      const { outcome, count, madeAtMs } = await call([limited(code, 3), limited(code, 2)])
      expect(outcome).toEqual({ ok: true, value: 'answer', tries: 3 })
      expect(madeAtMs).toEqual([0, 3_000, 5_000])
      expect([count('refusals'), count('errors'), count('retries')]).toEqual([2, 0, 0])
    },
  )

  test('that an unavailable server refuses is made again after the time that it asks for, as any retry', async () => {
    const busy = new ProblemAnswer({ status: 503, code: 'overloaded', title: '', detail: '' }, 3)
    const { outcome, count, madeAtMs } = await call([busy])
    expect(outcome).toEqual({ ok: true, value: 'answer', tries: 2 })
    expect(madeAtMs[1]).toBeGreaterThanOrEqual(3_000)
    expect([count('refusals'), count('errors'), count('retries')]).toEqual([0, 0, 1])
  })

  test('is given up for now where a limit asks for more time than a call may take, or the caller waits itself', async () => {
    const long = await call([limited('capacity_exceeded', 60)])
    expect(long.outcome).toEqual({ ok: false, code: 'capacity_exceeded', waitMs: 60_000, tries: 1 })
    const own = await call([limited('capacity_exceeded', 1)], { isDeferred: true })
    expect(own.outcome).toEqual({ ok: false, code: 'capacity_exceeded', waitMs: 1_000, tries: 1 })
    expect([own.count('refusals'), own.count('errors')]).toEqual([1, 0])
  })

  test('counts refusals by code and dimension', async () => {
    const ingest = limited('capacity_exceeded', 1, { dimension: 'observability_ingest' })
    const { world } = await call([ingest, limited('per_node_rate_limited', 1), ingest])
    expect(world.statistics.summary().failures).toEqual([
      { operation: 'heartbeat', code: 'capacity_exceeded', dimension: 'observability_ingest', count: 2 },
      { operation: 'heartbeat', code: 'per_node_rate_limited', count: 1 },
    ])
  })

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
