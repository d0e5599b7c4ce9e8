import { afterEach, describe, expect, test } from 'vitest'
import { keepReporting } from '../../../../src/cli/agent-sim/agent/heartbeat.ts'
import { changeEndpoint, keepOwnEndpoint } from '../../../../src/cli/agent-sim/agent/endpoint.ts'
import { pullSoon } from '../../../../src/client/agent/state/state-pull.ts'
import type { HeldStream } from '../../../../src/client/agent/events/held-stream.ts'
import type { PeerFacts } from '../../../../src/client/agent/peers/peer-book.ts'
import { playScenario } from '../../../../src/cli/agent-sim/scenario/play.ts'
import type { Fault } from '../../../../src/cli/agent-sim/scenario/scenario.ts'
import type { PhaseState } from '../../../../src/cli/agent-sim/scenario/stage.ts'
import { settle } from '../../../../src/cli/agent-sim/settling.ts'
import { neighboursOf } from '../../../../src/cli/agent-sim/neighbours.ts'
import {
  agentWorld,
  id,
  issued,
  peer,
  pulled,
  refusal,
  type AgentWorld,
  type Answers,
} from '../../../support/fleet/mesh-agents.ts'

const worlds: AgentWorld[] = []
afterEach(() => worlds.splice(0).forEach((world) => world.end()))

function worldOf(options: Parameters<typeof agentWorld>[0]): AgentWorld {
  const world = agentWorld(options)
  worlds.push(world)
  return world
}

const never = (): AbortSignal => new AbortController().signal

/** Plays one phase of ten seconds with a fault over a fleet that reports every second. */
function playing(fault: Fault, answers: Answers, stream?: Partial<HeldStream>) {
  const world = worldOf({ size: 2, answers })
  const phaseState: PhaseState = { rates: {}, outages: 0 }
  const deps = { ...world.deps, isOutage: () => phaseState.outages > 0 }
  for (const node of world.nodes) {
    keepReporting(deps, node, { intervalMs: 1_000, until: world.deps.until })
    if (stream !== undefined) node.stream = stream as HeldStream
  }
  const phase = { name: 'faults', durationMs: 10_000, rates: { reports: 0.5 }, faults: [fault] }
  const scenario = {
    edges: undefined,
    executionFailures: undefined,
    upgradeFailures: undefined,
    wrongChecksums: undefined,
    binaries: {},
    rates: {},
    phases: [phase],
  }
  void playScenario({ deps, nodes: world.nodes, phaseState }, scenario, never())
  return { ...world, phaseState }
}

const accepted = { accepted_at: '2026-01-01T00:00:00.000Z', reconcile: false, rotate_keys: false }

describe('A fault', () => {
  /** A server that checks the clock of heartbeats. */
  const timely = (world: () => AgentWorld): Answers => ({
    PostNodeHeartbeat({ input }) {
      const said = Date.parse((input['body'] as { client_now: string }).client_now)
      if (Math.abs(said - world().clock.now()) > 60_000) throw refusal(400, 'clock_skew')
      return accepted
    },
  })

  test('of clocks is refused during its phase, which is expected and not an error', async () => {
    const world: AgentWorld = playing(
      { kind: 'clock_skew', share: 1, skewMs: 61_000 },
      timely(() => world),
    )
    await world.clock.advance(9_500)
    expect([world.count('heartbeats'), world.count('expected_refusals')]).toEqual([0, 20])
    await world.clock.advance(10_000)
    expect([world.count('expected_refusals'), world.count('errors'), world.count('unmet_faults')]).toEqual([20, 0, 0])
    expect(world.count('heartbeats')).toBeGreaterThanOrEqual(18)
  })

  test('of clocks that the server accepts is unmet', async () => {
    const world = playing({ kind: 'clock_skew', share: 1, skewMs: 61_000 }, { PostNodeHeartbeat: () => accepted })
    await world.clock.advance(5_500)
    expect(world.count('unmet_faults')).toBe(12)
  })

  test.each([
    ['duplicate_calls', 2, 0],
    ['reordered_calls', 2, -1_000],
  ] as const)('of %s makes each heartbeat twice', async (kind, times, olderMs) => {
    const world = playing({ kind, share: 1 }, { PostNodeHeartbeat: () => accepted })
    await world.clock.advance(500)
    const said = world.calls
      .filter(({ input }) => input['id'] === id(1))
      .map(({ input }) => Date.parse((input['body'] as { client_now: string }).client_now))
    expect([said.length, (said[1] ?? 0) - (said[0] ?? 0)]).toEqual([times, olderMs])
  })

  test('of the server makes failures expected during its phase', async () => {
    const away = (): never => {
      throw refusal(503, 'datastore_unavailable')
    }
    const world = playing({ kind: 'server_restart' }, { PostNodeHeartbeat: away })
    await world.clock.advance(9_500)
    expect([world.count('outage_errors'), world.count('errors')]).toEqual([20, 0])
    await world.clock.advance(3_000)
    expect(world.count('errors')).toBeGreaterThan(0)
  })

  test('of routers and the rates of a phase end with the phase', async () => {
    const world = playing({ kind: 'endpoint_storm', rate: 4 }, {})
    await world.clock.advance(100)
    expect(world.phaseState.rates).toEqual({ reports: 0.5, endpoint_changes: 4 })
    await world.clock.advance(10_000)
    expect(world.phaseState.rates).toEqual({})
  })

  test('of the network breaks every stream, and one of readers slows some streams during its phase', async () => {
    const done: unknown[] = []
    const stream = { cut: () => done.push('cut'), slowDown: (ms: number) => done.push(ms) }
    await playing({ kind: 'reconnect_herd', share: 1 }, {}, stream).clock.advance(100)
    expect(done.splice(0)).toEqual(['cut', 'cut'])
    await playing({ kind: 'slow_reader', share: 0.5, delayMs: 700 }, {}, stream).clock.advance(11_000)
    expect(done).toEqual([700, 0])
  })

  test.each([
    ['ends in time', 20_000, 0],
    ['stays open', Infinity, 1],
  ])('of a revoked key finds a stream that %s', async (_, closesAfterMs, unclosed) => {
    let revokedMs = Infinity
    const stream = { isOpen: () => world.clock.now() - revokedMs < closesAfterMs }
    const world: AgentWorld = playing(
      { kind: 'revoked_nsk', nodes: 1 },
      {
        PostNodeHeartbeat({ input }) {
          if (input['id'] === id(1) && revokedMs < Infinity) throw refusal(401, 'nsk_revoked')
          return accepted
        },
        PostNodeSecretKeyRevoke: ({ token }) => {
          expect(token).toBeUndefined()
          // The phase begins when the clock does.
          revokedMs = Date.parse('2026-01-01T00:00:00Z')
        },
      },
      stream,
    )
    await world.clock.advance(31_000)
    expect([world.count('unclosed_streams'), world.count('errors')]).toEqual([unclosed, 0])
    expect(world.count('expected_refusals')).toBeGreaterThan(25)
  })
})

describe('An endpoint', () => {
  const answers: Answers = {
    PutNodeEndpoint: () => ({ accepted_at: '2026-01-01T00:00:00Z', stale_after: '2026-01-01T00:01:40Z' }),
  }
  const reported = ({ calls }: AgentWorld) => calls.map(({ input }) => (input['body'] as { endpoint: string }).endpoint)

  test('is reported again before it expires, and when it changes', async () => {
    const world = worldOf({ answers })
    const [node] = world.nodes
    if (node === undefined) throw new Error('no node')
    await keepOwnEndpoint(world.deps, node, world.deps.until)
    await changeEndpoint(world.deps, node)
    expect(reported(world)).toEqual(['198.18.0.0:51820', '198.18.0.0:1024'].with(1, node.endpoint))
    expect(node.endpoint).not.toBe('198.18.0.0:51820')
    await world.clock.advance(61_000)
    expect(reported(world)).toHaveLength(3)
    expect([world.count('endpoint_changes'), world.count('errors')]).toEqual([1, 0])
  })
})

/** A policy without rules, and the SHA-256 of `[]`. */
const POLICY = {
  policy_id: id(5),
  revision_id: id(6),
  fingerprint: 'T1PNoYwrqgwDVLtfmj7L5e0Sq02OEbqHPC8RFhICuUU=',
  rules: [],
}

/** The simulator made no bridges. */
const NO_BRIDGES = { behind: async () => new Set<string>() }

describe('At the end of a run', () => {
  /** Two agents who have pulled this of each other; what the server shows after that is `later`. */
  async function settled(
    first: (number: number) => PeerFacts,
    later = first,
    policiesOf: (pull: number) => readonly object[] = () => [],
  ) {
    let pulls = 0
    const world = worldOf({
      size: 2,
      answers: { PutNodeStateReport: () => ({}) },
      wire: {
        async pull({ nodeId }) {
          const other = nodeId === id(1) ? 2 : 1
          pulls += 1
          return pulled({ peers: [(pulls <= 2 ? first : later)(other)], policy: { policies: policiesOf(pulls) } })
        },
      },
    })
    for (const node of world.nodes) pullSoon(world.deps, node, 0)
    await world.clock.advance(10_000)
    const over = settle(world.deps, { nodes: world.nodes, bridges: NO_BRIDGES }, never())
    await world.clock.advance(60_000)
    await over
    return world
  }

  test('agents with the same state as the server and each other have no differences', async () => {
    const world = await settled((number) => peer(number))
    expect([world.count('stale_peers'), world.count('stale_edges'), world.count('unsettled')]).toEqual([0, 0, 0])
  })

  test('a peer that changed without an event is stale', async () => {
    const world = await settled(
      (number) => peer(number),
      (number) => peer(number, { endpoint: '198.18.0.9:1' }),
    )
    expect([world.count('stale_peers'), world.count('stale_edges')]).toEqual([2, 0])
  })

  test.each([
    ['that changed without an event', (pull: number) => (pull <= 2 ? [] : [POLICY]), 2],
    ['that is pulled again', () => [POLICY], 0],
    ['that changes during the comparison', (pull: number) => [{ ...POLICY, revision_id: id(pull) }], 0],
  ])('a policy %s is stale on that many agents', async (_, policiesOf, stale) => {
    const world = await settled((number) => peer(number), undefined, policiesOf)
    expect([world.count('stale_policies'), world.count('stale_peers'), world.count('unsettled')]).toEqual([stale, 0, 0])
  })

  test('a peer that changes during the comparison is not stale, because its event may be delayed', async () => {
    let port = 0
    const world = await settled(
      (number) => peer(number),
      (number) => peer(number, { endpoint: `198.18.0.9:${(port += 1)}` }),
    )
    expect([world.count('stale_peers'), world.count('unsettled')]).toEqual([0, 0])
  })

  test('an edge whose ends have different epochs is stale', async () => {
    const world = await settled((number) => peer(number, { psk_issued_at: issued(number) }))
    expect([world.count('stale_peers'), world.count('stale_edges')]).toEqual([0, 1])
  })
})

test.each([
  [10, 4],
  [10, 3],
  [5, 4],
  [3, 4],
  [2, 4],
  [1, 4],
  [6, 0],
])('in a ring of %i with %i edges each, being a neighbour is symmetric', (size, edges) => {
  const { nodes } = worldOf({ size })
  const neighbours = nodes.map(({ place }) => neighboursOf(nodes, place, edges))
  const expected = Math.min(size - 1, 2 * Math.ceil(edges / 2))
  expect(neighbours.map(({ length }) => length)).toEqual(nodes.map(() => expected))
  for (const [place, ids] of neighbours.entries())
    for (const [other, node] of nodes.entries())
      if (ids.includes(node.identity.node_id)) expect(neighbours[other]).toContain(nodes[place]?.identity.node_id)
})
