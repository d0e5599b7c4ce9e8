import { afterEach, describe, expect, test } from 'vitest'
import { ProblemAnswer, TransportFailure } from '../../../../../src/client/failures.ts'
import { reportCapabilities } from '../../../../../src/cli/agent-sim/agent/capabilities.ts'
import { reportWorkload } from '../../../../../src/cli/agent-sim/agent/state-report.ts'
import type { Habits } from '../../../../../src/cli/agent-sim/plan.ts'
import { agentWorld, type AgentCall, type AgentWorld } from '../../../../support/fleet/mesh-agents.ts'

const worlds: AgentWorld[] = []
afterEach(() => worlds.splice(0).forEach((world) => world.end()))

/** A server that refuses each of the first reports for so many seconds, or cannot be reached. */
function refusing(seconds: readonly (number | 'away')[], habits: Partial<Habits> = {}) {
  const left = [...seconds]
  const taken: { readonly atMs: number; readonly name: string; readonly value: unknown }[] = []
  const tried: number[] = []
  const put = ({ input }: AgentCall, name: string): unknown => {
    const atMs = world.clock.now() - startMs
    tried.push(atMs)
    const wait = left.shift()
    if (wait === 'away') throw new TransportFailure('unreachable', 'The server cannot be reached.')
    if (wait !== undefined) throw tooMuch(wait)
    taken.push({ atMs, name, value: (input['body'] as { value?: unknown }).value })
    return {}
  }
  const answers = {
    PutNodeStateReport: (call: AgentCall) => put(call, String(call.input['key'])),
    PutNodeCapabilities: (call: AgentCall) => put(call, 'capabilities'),
    DeleteNodeStateReport: () => undefined,
  }
  const world = agentWorld({ answers, habits })
  const startMs = world.clock.now()
  worlds.push(world)
  const [node] = world.nodes
  if (node === undefined) throw new Error('no node')
  return { ...world, node, taken, tried }
}

function tooMuch(seconds: number): ProblemAnswer {
  const dimension = 'observability_ingest'
  return new ProblemAnswer(
    { status: 429, code: 'capacity_exceeded', title: 'Capacity exceeded', detail: 'Later.', dimension },
    seconds,
  )
}

describe('A report that the server refuses because the Domain reports too much', () => {
  test('is sent again after the time that the server asks for, and not before, until it is taken', async () => {
    const world = refusing([20, 60])
    await reportWorkload(world.deps, world.node)
    expect(world.deps.tasks.isIdle()).toBe(false)
    await world.clock.advance(100_000)
    expect(world.tried).toEqual([0, 20_000, 80_000])
    expect(world.taken).toMatchObject([{ atMs: 80_000, name: 'workload.1' }])
    expect([world.count('refusals'), world.count('errors'), world.node.deferred.size]).toEqual([2, 0, 0])
    expect(world.deps.tasks.isIdle()).toBe(true)
  })

  test('keeps the node from sending any other, which follow it in their order', async () => {
    const world = refusing([10])
    await reportWorkload(world.deps, world.node)
    await world.clock.advance(5_000)
    await reportWorkload(world.deps, world.node)
    await reportCapabilities(world.deps, world.node)
    expect(world.tried).toEqual([0])
    await world.clock.advance(6_000)
    expect(world.taken.map(({ name }) => name)).toEqual(['workload.1', 'workload.2', 'capabilities'])
  })

  test('is sent once, as it is by then, where it was asked for several times meanwhile', async () => {
    const world = refusing([10])
    await reportCapabilities(world.deps, world.node)
    await reportCapabilities(world.deps, world.node)
    await reportCapabilities(world.deps, world.node)
    await world.clock.advance(60_000)
    expect(world.tried).toEqual([0, 10_000])
  })

  test('waits again with the others where the next one is refused', async () => {
    const world = refusing([10, 30])
    await reportWorkload(world.deps, world.node)
    await reportWorkload(world.deps, world.node)
    await world.clock.advance(60_000)
    expect(world.tried).toEqual([0, 10_000, 40_000, 40_000])
    expect(world.taken.map(({ name }) => name).toSorted()).toEqual(['workload.1', 'workload.2'])
  })

  test('is sent when the wait is over, also where the clock has been set back or the timer is early', async () => {
    const world = refusing([10])
    const scheduled: (() => Promise<void>)[] = []
    const schedule = (_ms: number, task: () => Promise<void>): void => void scheduled.push(task)
    const deps = { ...world.deps, tasks: { ...world.deps.tasks, schedule } }
    await reportWorkload(deps, world.node)
    expect(scheduled).toHaveLength(1)
    await scheduled[0]?.()
    expect(world.taken.map(({ name }) => name)).toEqual(['workload.1'])
    await reportWorkload(deps, world.node)
    expect(world.taken.map(({ name }) => name)).toEqual(['workload.1', 'workload.2'])
  })

  test('stays kept while the server cannot be reached', async () => {
    const oneTry: readonly 'away'[] = Array.from({ length: 8 }, () => 'away')
    const world = refusing([10, ...oneTry])
    await reportWorkload(world.deps, world.node)
    await world.clock.advance(30_000)
    expect(world.taken).toMatchObject([{ atMs: 15_000, name: 'workload.1' }])
    expect(world.node.deferred.size).toBe(0)
  })

  test('is not sent any more where it is deleted meanwhile, and an unknown one is no error then', async () => {
    const world = refusing([10])
    for (let times = 0; times < 3; times += 1) await reportWorkload(world.deps, world.node)
    await reportWorkload(world.deps, world.node)
    await world.clock.advance(60_000)
    expect(world.taken.map(({ name }) => name)).toEqual(['workload.1', 'workload.2'])
    expect(world.count('errors')).toBe(0)
  })

  test('is not sent by a node whose key was revoked meanwhile', async () => {
    const world = refusing([10])
    await reportWorkload(world.deps, world.node)
    world.node.isRevoked = true
    await world.clock.advance(60_000)
    expect(world.tried).toEqual([0])
  })
})

test('A state report has as many bytes as --report-bytes asks for, and no fewer than it needs', async () => {
  const world = refusing([], { reportBytes: 4_096 })
  await reportWorkload(world.deps, world.node)
  expect(JSON.stringify(world.taken[0]?.value)).toHaveLength(4_096)
  const small = refusing([], { reportBytes: 10 })
  await reportWorkload(small.deps, small.node)
  expect(small.taken[0]?.value).toEqual({ restarts: 0, seen_at: '2026-01-01T00:00:00.000Z', state: 'running' })
})
