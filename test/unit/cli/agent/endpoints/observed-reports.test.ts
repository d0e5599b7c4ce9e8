import { afterEach, describe, expect, test } from 'vitest'
import { createObservedReports } from '../../../../../src/cli/agent/endpoints/observed-reports.ts'
import { agentWorld, id, refusal, type AgentWorld } from '../../../../support/fleet/mesh-agents.ts'

const worlds: AgentWorld[] = []
afterEach(() => worlds.splice(0).forEach((world) => world.end()))

const LIFETIME_MS = 300_000
const TAKEN = { accepted_at: '2026-01-01T00:00:00.000Z', taken: 1, ignored: 0 }

function reporting(answer: () => unknown = () => TAKEN) {
  const world = agentWorld({ answers: { PutNodeObservedEndpoints: answer } })
  worlds.push(world)
  const [member] = world.nodes
  if (member === undefined) throw new Error('no node')
  const reports = createObservedReports({ agent: world.deps, member, lifetimeMs: () => LIFETIME_MS })
  return {
    ...world,
    /** Looks once a second for some time, and returns the peers of each report with their endpoints. */
    async see(seconds: number, ...peers: readonly (readonly [number, string])[]) {
      const before = world.calls.length
      for (let second = 0; second < seconds; second += 1) {
        reports.take(peers.map(([number, endpoint]) => ({ peerId: id(number), endpoint })))
        await world.clock.advance(1_000)
      }
      return world.calls.slice(before).map(({ input }) => reported(input['body']))
    },
  }
}

function reported(body: unknown): readonly string[] {
  const { observed } = body as { observed: readonly { endpoint: string; peer_node_id: string }[] }
  return observed.map((one) => `${one.peer_node_id === id(2) ? 'two' : 'three'} ${one.endpoint}`)
}

describe('what a node reports of its peers', () => {
  test('is a peer that is seen first, together with others of the same second', async () => {
    const world = reporting()
    expect(await world.see(1, [2, '203.0.113.2:1'])).toEqual([])
    expect(await world.see(5, [2, '203.0.113.2:1'], [3, '203.0.113.3:1'])).toEqual([
      ['two 203.0.113.2:1', 'three 203.0.113.3:1'],
    ])
  })

  test('is a peer alone that is seen elsewhere, or again after an absence', async () => {
    const world = reporting()
    await world.see(3, [2, '203.0.113.2:1'], [3, '203.0.113.3:1'])
    expect(await world.see(3, [2, '203.0.113.2:2'], [3, '203.0.113.3:1'])).toEqual([['two 203.0.113.2:2']])
    await world.see(1, [2, '203.0.113.2:2'])
    expect(await world.see(3, [2, '203.0.113.2:2'], [3, '203.0.113.3:1'])).toEqual([['three 203.0.113.3:1']])
  })

  test('is repeated at half of the time that the server keeps it', async () => {
    const world = reporting()
    await world.see(2, [2, '203.0.113.2:1'])
    expect(await world.see(148, [2, '203.0.113.2:1'])).toEqual([])
    expect(await world.see(4, [2, '203.0.113.2:1'])).toEqual([['two 203.0.113.2:1']])
  })

  test('is sent again 15 s after a refusal', async () => {
    let isRefused = true
    const world = reporting(() => {
      if (isRefused) throw refusal(403, 'forbidden')
      return TAKEN
    })
    expect((await world.see(10, [2, '203.0.113.2:1'])).length).toBe(1)
    isRefused = false
    expect(await world.see(10, [2, '203.0.113.2:1'])).toEqual([['two 203.0.113.2:1']])
  })

  test('is a change once more, 12 s after the server has ignored some of a report', async () => {
    const world = reporting(() => ({ ...TAKEN, taken: 0, ignored: 1 }))
    expect(await world.see(12, [2, '203.0.113.2:1'])).toEqual([['two 203.0.113.2:1']])
    expect(await world.see(100, [2, '203.0.113.2:1'])).toEqual([['two 203.0.113.2:1']])
  })

  test.each([
    [404, 'not_found'],
    [405, 'method_not_allowed'],
    [501, 'not_here'],
  ])('is nothing for a server that answers %i %s, which is asked once', async (status, code) => {
    const world = reporting(() => {
      throw refusal(status, code)
    })
    await world.see(40, [2, '203.0.113.2:1'])
    expect(world.calls.length).toBe(1)
    expect(world.count('errors')).toBe(0)
  })

  test('has at most 64 peers in one call', async () => {
    const world = reporting()
    await world.see(3, ...Array.from({ length: 130 }, (_, index) => [index, '203.0.113.2:1'] as const))
    const bodies = world.calls.map(({ input }) => reported(input['body']).length)
    expect(bodies).toEqual([64, 64, 2])
  })
})
