import { afterEach, describe, expect, test } from 'vitest'
import { handleEvent } from '../../../../../src/client/agent/events/handle-event.ts'
import type { MeshCalls } from '../../../../../src/client/agent/agent-deps.ts'
import { fetchEdgeKeySoon, fetchEdgeKeysSoon } from '../../../../../src/client/agent/keys/edge-key.ts'
import type { PulledBytes } from '../../../../../src/client/agent/calls/node-wire.ts'
import { newMember } from '../../../../../src/client/agent/member.ts'
import { createPeerView } from '../../../../../src/client/agent/peers/peer-view.ts'
import { pullSoon } from '../../../../../src/client/agent/state/state-pull.ts'
import type { ReceivedEnvelope } from '../../../../../src/shared/events/signed-envelope.ts'
import {
  agentWorld,
  id,
  issued,
  peer,
  pulled,
  refusal,
  sealed,
  type AgentWorld,
} from '../../../../support/fleet/mesh-agents.ts'

const worlds: AgentWorld[] = []
afterEach(() => worlds.splice(0).forEach((world) => world.end()))

const KEY = new Uint8Array(32).fill(7)
const epoch = (own: number, far: number) => `${issued(own)}|${issued(far)}`
type FetchSeveral = MeshCalls['fetchEdgeKeys']

/** Gives the key of each requested edge. */
const several: FetchSeveral = async ({ peerIds, ...call }) =>
  peerIds.map((peerId) => ({ peerId, ...sealed({ ...call, peerId }, epoch(1, 1), KEY) }))

interface Options {
  readonly peers: number
  readonly one?: (call: { nodeId: string; nsk: string; peerId: string }) => ReturnType<typeof sealed>
  readonly fetchEdgeKeys?: FetchSeveral
  readonly pull?: () => Promise<PulledBytes | undefined>
}

/** A node that knows that many peers, and has all of them as edges. */
function meshed({ peers, one = (call) => sealed(call, epoch(1, 1), KEY), fetchEdgeKeys, pull }: Options) {
  const taken: string[] = []
  const world = agentWorld({
    answers: { PutNodeStateReport: () => ({ accepted_at: '' }) },
    wire: {
      fetchEdgeKey: async (call) => one(call),
      ...(fetchEdgeKeys !== undefined && { fetchEdgeKeys }),
      ...(pull !== undefined && { pull }),
    },
    actions: {
      edgesOf: ({ view }) => view?.list().map(({ node_id: nodeId }) => nodeId) ?? [],
      takeEdgeKey: (_, { peerId }) => void taken.push(peerId),
    },
  })
  worlds.push(world)
  const [node] = world.nodes
  if (node === undefined) throw new Error('no node')
  const view = createPeerView(world.deps.mesh.book)
  for (let number = 2; number < peers + 2; number += 1) view.set(id(number), peer(number))
  if (peers > 0) node.view = view
  const requests = () =>
    world.calls.flatMap(({ operation, input }) =>
      operation === 'fetchEdgeKeys' ? [(input['peerIds'] as string[]).length] : operation === 'fetchEdgeKey' ? [1] : [],
    )
  return { ...world, node, taken, requests }
}

describe('An agent that needs the keys of several edges', () => {
  test('fetches up to 256 of them in one call', async () => {
    const world = meshed({ peers: 300, fetchEdgeKeys: several })
    fetchEdgeKeysSoon(world.deps, world.node)
    await world.clock.advance(500)
    expect([world.requests(), new Set(world.taken).size]).toEqual([[256, 44], 300])
  })

  test('fetches one alone with the call for one', async () => {
    const world = meshed({ peers: 2, fetchEdgeKeys: several })
    fetchEdgeKeySoon(world.deps, world.node, id(2))
    await world.clock.advance(1_000)
    expect(world.called()).toContain('fetchEdgeKey')
    expect(world.called()).not.toContain('fetchEdgeKeys')
  })

  test.each([
    ['no such operation (501)', () => refusal(501, 'psk_not_provisioned')],
    ['no such path (404)', () => refusal(404, 'not_found')],
    ['another method there (405)', () => refusal(405, 'method_not_allowed')],
  ])('fetches one after the other from a server with %s, and tries it once', async (_, refused) => {
    const world = meshed({ peers: 3, fetchEdgeKeys: () => Promise.reject(refused()) })
    fetchEdgeKeysSoon(world.deps, world.node)
    await world.clock.advance(500)
    fetchEdgeKeysSoon(world.deps, world.node)
    await world.clock.advance(500)
    expect([world.requests(), world.count('errors')]).toEqual([[3, 1, 1, 1, 1, 1, 1], 0])
  })

  test('fetches one after the other where the client has no call for several', async () => {
    const world = meshed({ peers: 3 })
    fetchEdgeKeysSoon(world.deps, world.node)
    await world.clock.advance(500)
    expect(world.taken).toEqual([id(2), id(3), id(4)])
  })

  test('fetches those that are requested during a call with the next one', async () => {
    let answer: () => void = () => undefined
    const answered = new Promise<void>((resolve) => (answer = resolve))
    const world = meshed({
      peers: 4,
      fetchEdgeKeys: async (call) => {
        await answered
        return several(call)
      },
    })
    fetchEdgeKeysSoon(world.deps, world.node, [id(2), id(3)])
    await world.clock.advance(200)
    fetchEdgeKeysSoon(world.deps, world.node, [id(3), id(4), id(5)])
    await world.clock.advance(200)
    expect(world.requests()).toEqual([2])
    answer()
    await world.clock.advance(200)
    expect(world.requests()).toEqual([2, 3])
  })

  test('ignores the key of an edge that it did not request', async () => {
    const world = meshed({
      peers: 3,
      fetchEdgeKeys: (call) => several({ ...call, peerIds: [...call.peerIds, id(9)] }),
    })
    fetchEdgeKeysSoon(world.deps, world.node)
    await world.clock.advance(500)
    expect(world.taken).not.toContain(id(9))
    expect(world.node.edges?.has(id(9))).toBe(false)
  })

  test('reports the digest soon after it has a key', async () => {
    const world = meshed({ peers: 2, fetchEdgeKeys: several })
    fetchEdgeKeysSoon(world.deps, world.node)
    await world.clock.advance(5_000)
    expect(world.called()).toEqual(['fetchEdgeKeys', 'PutNodeStateReport'])
  })
})

describe('An agent that did not get the key of an edge', () => {
  test('requests it again with growing pauses while the server knows no key, and no other edge', async () => {
    let known = false
    const world = meshed({
      peers: 3,
      fetchEdgeKeys: ({ peerIds, ...call }) =>
        several({ ...call, peerIds: known ? peerIds : peerIds.filter((peerId) => peerId !== id(3)) }),
      one: (call) => {
        if (!known) throw refusal(404, 'peer_not_found')
        return sealed(call, epoch(1, 1), KEY)
      },
    })
    fetchEdgeKeysSoon(world.deps, world.node)
    await world.clock.advance(900)
    expect([world.requests(), world.taken]).toEqual([[3], [id(2), id(4)]])
    await world.clock.advance(2_500)
    expect(world.requests()).toEqual([3, 1, 1])
    known = true
    await world.clock.advance(8_000)
    expect([world.requests(), world.taken.at(-1)]).toEqual([[3, 1, 1, 1], id(3)])
    await world.clock.advance(20_000)
    expect(world.requests().length).toBe(4)
  })

  test('goes on with the other edges and requests a refused epoch again', async () => {
    const world = meshed({ peers: 2, fetchEdgeKeys: several })
    world.node.edges = new Map([[id(2), { own: issued(9), peer: issued(1) }]])
    fetchEdgeKeysSoon(world.deps, world.node)
    await world.clock.advance(500)
    expect([world.taken, world.count('epoch_regressions')]).toEqual([[id(3)], 1])
    await world.clock.advance(1_000)
    expect([world.requests(), world.count('epoch_regressions')]).toEqual([[2, 1], 2])
  })

  test.each([
    ['the peer is gone', 404, 'peer_not_found', true],
    ['the server has no edge keys', 501, 'psk_not_provisioned', false],
    ['its secret key is refused', 401, 'nsk_revoked', false],
  ])('does not request it again where %s', async (_, status, code, isGone) => {
    const world = meshed({
      peers: 1,
      one: () => {
        throw refusal(status, code)
      },
    })
    fetchEdgeKeysSoon(world.deps, world.node)
    await world.clock.advance(500)
    if (isGone) handleEvent(world.deps, world.node, { place: { kind: 'next' }, envelope: DEREGISTERED })
    await world.clock.advance(10_000)
    expect(world.requests()).toEqual([1])
  })
})

describe('The epochs of edges', () => {
  test('that an earlier run has stored are in force after a restart', async () => {
    const edges = new Map([[id(2), { own: issued(1), peer: issued(4) }]])
    const world = meshed({ peers: 1 })
    Object.assign(world.node, { ...newMember({ edges }), identity: world.node.identity, view: world.node.view })
    fetchEdgeKeysSoon(world.deps, world.node)
    await world.clock.advance(500)
    expect([world.taken, world.count('epoch_regressions')]).toEqual([[], 1])
  })

  test.each(['hint', 'pull'])('are forgotten with a peer that is gone by a %s', async (way) => {
    const states = [pulled({ peers: [peer(2), peer(3)] }, '"1"'), pulled({ peers: [peer(3)] }, '"2"')]
    const world = meshed({ peers: 0, pull: async () => states.shift() })
    pullSoon(world.deps, world.node, 0)
    await world.clock.advance(500)
    expect([...(world.node.edges?.keys() ?? [])]).toEqual([id(2), id(3)])
    if (way === 'pull') pullSoon(world.deps, world.node, 0)
    else handleEvent(world.deps, world.node, { place: { kind: 'next' }, envelope: DEREGISTERED })
    await world.clock.advance(500)
    expect([...(world.node.edges?.keys() ?? [])]).toEqual([id(3)])
  })
})

const DEREGISTERED: ReceivedEnvelope = {
  api_version: 'v1',
  domain_id: id(900),
  event_id: id(901),
  kid: 'k',
  node_id: id(1),
  node_seq: 1,
  occurred_at: '2026-01-01T00:00:00.000Z',
  type: 'node_state_updated',
  payload: { reason: 'changed', blocks: ['peers'], peers: [{ node_id: id(2), changes: ['deregistered'] }] },
}
