import { afterEach, describe, expect, test } from 'vitest'
import { keepEndpoint, sendEndpoint } from '../../../../../src/client/agent/reports/endpoint.ts'
import { agentWorld, refusal, type AgentWorld } from '../../../../support/fleet/mesh-agents.ts'

const worlds: AgentWorld[] = []
afterEach(() => worlds.splice(0).forEach((world) => world.end()))

const TAKEN = { accepted_at: '2026-01-01T00:00:00.000Z', stale_after: '2026-01-01T00:00:30.000Z' }

/** A node that reports its endpoint until it is stopped. */
function reporting(answer: () => unknown) {
  const world = agentWorld({ answers: { PutNodeEndpoint: answer } })
  worlds.push(world)
  const [node] = world.nodes
  if (node === undefined) throw new Error('no node')
  const stop = new AbortController()
  const report = () =>
    sendEndpoint(world.deps, node, {
      endpoint: '203.0.113.7:51820',
      natType: 'unknown',
      observedMs: world.clock.now(),
    })
  return { ...world, stop, keep: () => keepEndpoint(world.deps, { report, until: stop.signal }) }
}

describe('The endpoint of a node', () => {
  test('is reported with the instant of the observation, in milliseconds', async () => {
    const world = reporting(() => TAKEN)
    await world.keep()
    expect(world.calls.map(({ input }) => input['body'])).toEqual([
      { endpoint: '203.0.113.7:51820', nat_type: 'unknown', reported_at: '2026-01-01T00:00:00.000Z' },
    ])
  })

  test.each(['invalid_body', 'endpoint_unparseable'])(
    'is reported without its candidates to a server that refuses them with %s',
    async (code) => {
      const candidates = ['192.168.1.7:51820']
      const world = reporting(() => TAKEN)
      const [node] = world.nodes
      if (node === undefined) throw new Error('no node')
      const observed = { endpoint: '203.0.113.7:51820', natType: 'unknown', observedMs: 0, candidates } as const
      expect(await sendEndpoint(world.deps, node, observed)).toBe(30_000)
      expect(world.calls.map(({ input }) => input['body'])).toMatchObject([{ candidates }])
      const older = reporting(() => {
        if (older.calls.length === 1) throw refusal(400, code)
        return TAKEN
      })
      const [other] = older.nodes
      if (other === undefined) throw new Error('no node')
      expect(await sendEndpoint(older.deps, other, observed)).toBe(30_000)
      expect(older.calls.map(({ input }) => Object.keys(input['body'] as object))).toEqual([
        ['endpoint', 'nat_type', 'reported_at', 'candidates'],
        ['endpoint', 'nat_type', 'reported_at'],
      ])
    },
  )

  test('is reported again at half of its lifetime, until the agent ends', async () => {
    const world = reporting(() => TAKEN)
    await world.keep()
    await world.clock.advance(14_900)
    expect(world.calls.length).toBe(1)
    await world.clock.advance(200)
    expect(world.calls.length).toBe(2)
    world.stop.abort()
    await world.clock.advance(16_000)
    expect(world.calls.length).toBe(2)
  })

  test('is reported again soon where the server did not take it', async () => {
    let isAway = true
    const world = reporting(() => {
      if (isAway) throw refusal(503, 'datastore_unavailable')
      return TAKEN
    })
    await world.keep()
    isAway = false
    await world.clock.advance(30_100)
    expect(world.calls.length).toBe(2)
  })
})
