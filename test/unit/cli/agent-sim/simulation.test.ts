import { setMaxListeners } from 'node:events'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ProblemAnswer, TransportFailure } from '../../../../src/client/failures.ts'
import type { AgentClock } from '../../../../src/client/agent/agent-clock.ts'
import type { ApiClient } from '../../../../src/client/agent/agent-deps.ts'
import { DEFAULT_HABITS, type SimulationPlan } from '../../../../src/cli/agent-sim/plan.ts'
import { parseFailOn } from '../../../../src/cli/agent-sim/fail-on.ts'
import { simulate, type SimulationDeps } from '../../../../src/cli/agent-sim/simulation.ts'
import { openStateDirectory } from '../../../../src/cli/agent-sim/state-directory.ts'

/** A clock that jumps to the next waiter as soon as everything waits. */
function jumpingClock(): AgentClock {
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const waiting: { atMs: number; wake: () => void }[] = []
  let jumping = false
  const jump = (): void => {
    jumping = false
    const next = waiting.toSorted((a, b) => a.atMs - b.atMs)[0]
    if (next === undefined) return
    waiting.splice(waiting.indexOf(next), 1)
    nowMs = Math.max(nowMs, next.atMs)
    next.wake()
    schedule()
  }
  const schedule = (): void => {
    if (jumping) return
    jumping = true
    setImmediate(jump)
  }
  return {
    now: () => nowMs,
    random: () => 0.5,
    pause: (ms, signal) =>
      new Promise((resolve) => {
        setMaxListeners(0, signal)
        const waiter = { atMs: nowMs + Math.max(0, ms), wake: resolve }
        signal.addEventListener('abort', () => resolve(), { once: true })
        waiting.push(waiter)
        schedule()
      }),
  }
}

function planOf(given: Partial<SimulationPlan>): SimulationPlan {
  return {
    nodes: 1,
    durationMs: 10_000,
    warmUpMs: 0,
    heartbeatIntervalMs: 1000,
    deregister: false,
    concurrency: 4,
    failOn: [],
    habits: DEFAULT_HABITS,
    scenario: undefined,
    ...given,
  }
}

interface Calls {
  /** When each registration was tried. */
  readonly triedMs: number[]
  /** When each removal was tried. */
  readonly removalsMs: number[]
  readonly registered: string[]
  readonly heartbeats: string[]
  readonly removed: string[]
}

/** Whether the so manieth try is refused by a rate limit. */
interface Refusing {
  readonly refuseRegistration: (tries: number) => boolean
  readonly refuseRemoval: (tries: number) => boolean
  /** Why the key of a node that comes back is refused; undefined where it is taken. */
  readonly refuseKey: (nodeId: string) => ProblemAnswer | undefined
}

function stubClient(
  clock: AgentClock,
  refuse: (heartbeats: number) => boolean = () => false,
  {
    refuseRegistration = () => false,
    refuseRemoval = () => false,
    refuseKey = () => undefined,
  }: Partial<Refusing> = {},
): { client: ApiClient; calls: Calls } {
  const calls: Calls = { triedMs: [], removalsMs: [], registered: [], heartbeats: [], removed: [] }
  const client = {
    async RegisterNode({ body }: { body: { name: string } }) {
      calls.triedMs.push(clock.now())
      if (refuseRegistration(calls.triedMs.length)) throw limited()
      calls.registered.push(body.name)
      return { node_id: `node-${calls.registered.length}`, nsk: `nsk_${body.name}` }
    },
    async GetNodeReachability({ id }: { id: string }) {
      const refusal = refuseKey(id)
      if (refusal !== undefined) throw refusal
      return { state: 'stale' }
    },
    async PostNodeHeartbeat({ id }: { id: string }) {
      calls.heartbeats.push(id)
      if (refuse(calls.heartbeats.length)) {
        throw new ProblemAnswer({ code: 'internal', status: 500, title: 'Internal error', detail: 'It failed.' })
      }
      return { accepted_at: new Date(clock.now()).toISOString(), reconcile: false, rotate_keys: false }
    },
    async DeleteNode({ id }: { id: string }) {
      calls.removalsMs.push(clock.now())
      if (refuseRemoval(calls.removalsMs.length)) throw limited()
      calls.removed.push(id)
    },
  }
  return { client: client as unknown as ApiClient, calls }
}

/** The answer of a server whose limit is exhausted for two seconds. */
function limited(): ProblemAnswer {
  return new ProblemAnswer({ code: 'rate_limited', status: 429, title: 'Too many requests', detail: 'Later.' }, 2)
}

function depsOf(client: ApiClient, clock: AgentClock, more: Partial<SimulationDeps> = {}): SimulationDeps {
  return {
    client,
    clock,
    url: 'http://127.0.0.1:7443',
    signal: new AbortController().signal,
    stateDirectory: undefined,
    joinToken: async () => ({ token: 'jtk', isEphemeral: true }),
    observe: () => undefined,
    ...more,
  }
}

describe('a simulation', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'fleet-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  test('agents whose streams cannot be opened report from the start, not when the wait for streams is over', async () => {
    const clock = jumpingClock()
    const startMs = clock.now()
    const stop = new AbortController()
    const { client, calls } = stubClient(clock, (heartbeats) => {
      if (heartbeats === 200) stop.abort()
      return false
    })
    const connect = () => () => Promise.reject(new TransportFailure('unreachable', 'no way'))
    const streams = { connect, verify: () => expect.fail('no frame'), findKey: () => expect.fail('no frame') }
    const plan = planOf({ nodes: 100, durationMs: 600_000 })
    const result = await simulate(plan, depsOf(client, clock, { streams, signal: stop.signal }))
    expect(new Set(calls.heartbeats).size).toBe(100)
    expect(result.summary.counts).toMatchObject({ streams: 0, errors: 0 })
    // Streams that neither open nor end are waited for for 60 s.
    expect(clock.now() - startMs).toBeLessThan(30_000)
  })

  test('registers every node once and sends heartbeats at their interval', async () => {
    const clock = jumpingClock()
    const { client, calls } = stubClient(clock)
    const result = await simulate(planOf({ nodes: 3 }), depsOf(client, clock))
    expect(calls.registered).toHaveLength(3)
    expect(result.summary.counts).toMatchObject({ registrations: 3, heartbeats: 30, errors: 0 })
    expect(result).toMatchObject({ nodes: 3, interrupted: false, failedConditions: [] })
  })

  test('records no latency during the warm-up, but counts its calls', async () => {
    const clock = jumpingClock()
    const { client } = stubClient(clock)
    const { summary } = await simulate(planOf({ warmUpMs: 6_000 }), depsOf(client, clock))
    expect(summary.counts).toMatchObject({ heartbeats: 10, registrations: 1 })
    expect(summary.operations.map(({ operation, count }) => [operation, count])).toEqual([['heartbeat', 4]])
  })

  test('counts failures by code and continues', async () => {
    const clock = jumpingClock()
    const { client } = stubClient(clock, (heartbeats) => heartbeats <= 2)
    const plan = planOf({ failOn: parseFailOn('errors>1', ['heartbeat']) })
    const { summary, failedConditions } = await simulate(plan, depsOf(client, clock))
    expect(summary.failures).toEqual([{ operation: 'heartbeat', code: 'internal', count: 2 }])
    expect(failedConditions).toEqual(['errors>1 (measured 2)'])
  })

  test('starts at most 500 registrations per second at any concurrency', async () => {
    const clock = jumpingClock()
    const { client, calls } = stubClient(clock)
    await simulate(planOf({ nodes: 1000, durationMs: 1, concurrency: 64 }), depsOf(client, clock))
    const [first = 0] = calls.triedMs
    expect(calls.triedMs.map((ms) => ms - first)).toEqual(Array.from({ length: 1000 }, (_, index) => index * 2))
  })

  test('retries a rate-limited registration after Retry-After, and counts a refusal, not an error', async () => {
    const clock = jumpingClock()
    const { client, calls } = stubClient(clock, undefined, { refuseRegistration: (tries) => tries <= 2 })
    const result = await simulate(planOf({ durationMs: 1 }), depsOf(client, clock))
    const [first = 0] = calls.triedMs
    expect(calls.triedMs.map((ms) => ms - first)).toEqual([0, 2000, 4000])
    expect(result.nodes).toBe(1)
    expect(result.summary.counts).toMatchObject({ registrations: 1, refusals: 2, errors: 0 })
    expect(result.summary.failures).toEqual([{ operation: 'register', code: 'rate_limited', count: 2 }])
  })

  test('stops after ten rate-limited tries, and fails with the refusal if there is no other node', async () => {
    const clock = jumpingClock()
    const { client, calls } = stubClient(clock, undefined, { refuseRegistration: () => true })
    await expect(simulate(planOf({ durationMs: 1 }), depsOf(client, clock))).rejects.toThrow('Later.')
    expect([calls.triedMs.length, calls.heartbeats]).toEqual([10, []])
  })

  test('continues with the registered nodes when others are refused', async () => {
    const clock = jumpingClock()
    const { client } = stubClient(clock, undefined, { refuseRegistration: (tries) => tries > 1 })
    const result = await simulate(planOf({ nodes: 2, durationMs: 1000 }), depsOf(client, clock))
    expect(result).toMatchObject({ nodes: 1, ephemeralNodes: 1, unregisteredNodes: 1, leftNodes: 0 })
  })

  test('deregisters at most 200 nodes per second, and retries rate-limited ones', async () => {
    const clock = jumpingClock()
    const { client, calls } = stubClient(clock, undefined, { refuseRemoval: (tries) => tries === 1 })
    await simulate(planOf({ nodes: 3, durationMs: 1, deregister: true, concurrency: 1 }), depsOf(client, clock))
    const [first = 0] = calls.removalsMs
    expect(calls.removalsMs.map((ms) => ms - first)).toEqual([0, 2000, 2005, 2010])
    expect(calls.removed).toEqual(['node-1', 'node-2', 'node-3'])
  })

  test('counts the nodes that could not be deregistered', async () => {
    const clock = jumpingClock()
    const { client } = stubClient(clock, undefined, { refuseRemoval: (tries) => tries > 1 })
    const plan = planOf({ nodes: 3, durationMs: 1, deregister: true, concurrency: 1 })
    expect(await simulate(plan, depsOf(client, clock))).toMatchObject({ unregisteredNodes: 0, leftNodes: 2 })
  })

  test('resumes the nodes of the state directory, and registers only the missing ones', async () => {
    const clock = jumpingClock()
    const { client, calls } = stubClient(clock)
    const stateDirectory = await openStateDirectory(directory)
    const plan = (nodes: number) => planOf({ nodes, durationMs: 1000 })
    await simulate(plan(2), depsOf(client, clock, { stateDirectory }))
    await simulate(plan(3), depsOf(client, clock, { stateDirectory }))
    expect(calls.registered).toHaveLength(3)
    expect((await stat(join(directory, 'fleet.json'))).mode & 0o777).toBe(0o600)
  })

  test.each([
    ['gone', new ProblemAnswer({ code: 'unauthorized', status: 401, title: 'Unauthorized', detail: 'No.' }), 1],
    ['revoked', new ProblemAnswer({ code: 'nsk_revoked', status: 401, title: 'Revoked', detail: 'No.' }), 1],
    ['not to be had for now', limited(), 0],
  ])('replaces a stored node that is %s, and stores the new one', async (_, refusal, gone) => {
    const clock = jumpingClock()
    const { client, calls } = stubClient(clock, undefined, {
      refuseKey: (id) => (id === 'node-1' ? refusal : undefined),
    })
    const stateDirectory = await openStateDirectory(directory)
    const plan = planOf({ nodes: 2, durationMs: 1000 })
    await simulate(plan, depsOf(client, clock, { stateDirectory }))
    const result = await simulate(plan, depsOf(client, clock, { stateDirectory }))
    expect([result.goneNodes, result.nodes, calls.registered.length]).toEqual([gone, 2, 2 + gone])
    const kept = (await stateDirectory.load('http://127.0.0.1:7443')).map(({ node_id }) => node_id)
    expect(kept).toEqual(gone === 1 ? ['node-2', 'node-3'] : ['node-1', 'node-2'])
  })

  test('refuses a state directory that belongs to another server, before the first registration', async () => {
    const clock = jumpingClock()
    const { client, calls } = stubClient(clock)
    const stateDirectory = await openStateDirectory(directory)
    await stateDirectory.save('http://elsewhere', [])
    await expect(simulate(planOf({}), depsOf(client, clock, { stateDirectory }))).rejects.toThrow(
      `${join(directory, 'fleet.json')} holds a fleet of http://elsewhere; give another --state-dir for http://127.0.0.1:7443`,
    )
    expect(calls.registered).toEqual([])
    expect(await readFile(join(directory, 'fleet.json'), 'utf8')).toContain('elsewhere')
  })

  test('an interrupt ends the heartbeats, and the nodes are still deregistered with --deregister', async () => {
    const clock = jumpingClock()
    const interrupt = new AbortController()
    const { client, calls } = stubClient(clock, (heartbeats) => {
      if (heartbeats === 5) interrupt.abort()
      return false
    })
    const plan = planOf({ nodes: 2, durationMs: 60_000, deregister: true })
    const result = await simulate(plan, depsOf(client, clock, { signal: interrupt.signal }))
    expect(result.interrupted).toBe(true)
    expect(calls.heartbeats.length).toBeLessThanOrEqual(6)
    expect(calls.removed.toSorted()).toEqual(['node-1', 'node-2'])
  })
})
