import { createHash } from 'node:crypto'
import { createPeerBook } from '../../../../src/client/agent/peers/peer-book.ts'
import { createPeerView } from '../../../../src/client/agent/peers/peer-view.ts'
import { afterEach, describe, expect, test } from 'vitest'
import { fetchEdgeKeySoon } from '../../../../src/client/agent/keys/edge-key.ts'
import { handleEvent } from '../../../../src/client/agent/events/handle-event.ts'
import { rotateSecretKey } from '../../../../src/client/agent/keys/secret-key-rotation.ts'
import { pullSoon } from '../../../../src/client/agent/state/state-pull.ts'
import { attempt } from '../../../../src/client/agent/calls/attempt.ts'
import type { PulledBytes } from '../../../../src/client/agent/calls/node-wire.ts'
import type { SimulatedNode } from '../../../../src/cli/agent-sim/simulated-node.ts'
import type { Place } from '../../../../src/shared/events/order.ts'
import type { ReceivedEnvelope } from '../../../../src/shared/events/signed-envelope.ts'
import { canonicalize } from '../../../../src/shared/canonical-json.ts'
import { digestEpochs } from '../../../../src/shared/mesh/epoch-digest.ts'
import {
  agentWorld,
  id,
  issued,
  peer,
  pulled,
  refusal,
  sealed,
  type AgentWorld,
} from '../../../support/fleet/mesh-agents.ts'

const worlds: AgentWorld[] = []
afterEach(() => worlds.splice(0).forEach((world) => world.end()))

type Options = Parameters<typeof agentWorld>[0]

function worldOf(options: Options): AgentWorld & { readonly node: SimulatedNode } {
  const world = agentWorld(options)
  worlds.push(world)
  const [node] = world.nodes
  if (node === undefined) throw new Error('no node')
  return { ...world, node }
}

const NEXT: Place = { kind: 'next' }

function event(type: string, payload: object): ReceivedEnvelope {
  return {
    api_version: 'v1',
    domain_id: id(900),
    event_id: id(901),
    kid: 'k',
    node_id: id(1),
    node_seq: 1,
    occurred_at: '2026-01-01T00:00:00.000Z',
    payload: { ...payload },
    type,
  }
}

const hint = (payload: object): ReceivedEnvelope =>
  event('node_state_updated', { reason: 'changed', blocks: ['peers'], peers: [], ...payload })

/** A world whose server answers the pulls with these, the last one ever after; undefined is 304. */
function pulling(states: readonly (PulledBytes | undefined)[], more: Partial<Options> = {}) {
  const tags: unknown[] = []
  const world = worldOf({
    ...more,
    answers: { PutNodeStateReport: () => ({ accepted_at: '' }), ...more.answers },
    wire: {
      pull: async ({ etag }) => {
        tags.push(etag)
        return states[Math.min(tags.length - 1, states.length - 1)]
      },
      ...more.wire,
    },
  })
  return { ...world, tags, pull: () => pullSoon(world.deps, world.node, 0) }
}

/** The peers that the agent knows, in the order in which it first heard of them. */
function known({ node }: { readonly node: SimulatedNode }) {
  const differing = node.view?.differing(createPeerView(createPeerBook())) ?? []
  return differing.map(({ own }) => own).toReversed()
}

describe('An agent that pulls its state', () => {
  test('applies the peers, sends the ETag the next time, and counts an unchanged state', async () => {
    const world = pulling([pulled({ peers: [peer(2), peer(3)] }, '"one"'), undefined])
    world.pull()
    await world.clock.advance(20)
    world.pull()
    await world.clock.advance(20)
    expect(known(world)).toEqual([peer(2), peer(3)])
    expect(world.tags).toEqual([undefined, '"one"'])
    expect([world.count('not_modified'), world.count('errors')]).toEqual([1, 0])
  })

  test('pulls once for several requests', async () => {
    const world = pulling([pulled({})])
    world.pull()
    world.pull()
    await world.clock.advance(20)
    expect(world.tags).toHaveLength(1)
  })

  test.each([
    ['is not canonical', { ...pulled({}), bytes: Buffer.from(`${pulled({}).bytes.toString()} `) }],
    ['is no JSON', { ...pulled({}), bytes: Buffer.from('{') }],
    ['lacks a block', { ...pulled({}), bytes: Buffer.from('{"peers":[]}') }],
    ['has the node among its peers', pulled({ peers: [peer(1)] })],
    ['has peers out of order', pulled({ peers: [peer(3), peer(2)] })],
    ['has a peer twice', pulled({ peers: [peer(2), peer(2)] })],
    ['has a peer without a key', pulled({ peers: [peer(2, { public_key: '' })] })],
  ])('refuses a state that %s', async (_, state) => {
    const world = pulling([state])
    world.pull()
    await world.clock.advance(20)
    expect([world.count('bad_snapshots'), known(world)]).toEqual([1, []])
  })

  test('refuses an epoch older than the known one', async () => {
    const newer = peer(2, { psk_issued_at: issued(5), public_key: 'new' })
    const world = pulling([pulled({ peers: [newer] }), pulled({ peers: [peer(2, { endpoint: '198.18.0.1:1' })] })])
    world.pull()
    await world.clock.advance(20)
    world.pull()
    await world.clock.advance(20)
    expect(world.count('epoch_regressions')).toBe(1)
    expect(known(world)).toEqual([{ ...newer, endpoint: '198.18.0.1:1' }])
  })

  test('accepts an answer older than an event, and pulls again', async () => {
    let answer: (state: PulledBytes) => void = () => undefined
    const slow = new Promise<PulledBytes>((resolve) => (answer = resolve))
    const rotated = peer(2, { public_key: 'new', psk_issued_at: issued(9), endpoint: '198.18.0.2:2' })
    const states = [pulled({ peers: [peer(2)] }), slow, pulled({ peers: [rotated] })]
    const tags: unknown[] = []
    const world = worldOf({
      answers: { PutNodeStateReport: () => ({}) },
      wire: { pull: async ({ etag }) => states[tags.push(etag) - 1] },
    })
    pullSoon(world.deps, world.node, 0)
    await world.clock.advance(20)
    pullSoon(world.deps, world.node, 0)
    await world.clock.advance(20)
    const changed = {
      node_id: id(2),
      changes: ['key_rotated'],
      public_key: 'new',
      psk_issued_at: issued(9),
    }
    handleEvent(world.deps, world.node, { envelope: hint({ peers: [changed] }), place: NEXT })
    answer(pulled({ peers: [peer(2)] }))
    await world.clock.advance(0)
    expect([world.count('epoch_regressions'), known(world)[0]?.psk_issued_at]).toEqual([0, issued(9)])
    await world.clock.advance(20)
    expect([world.count('epoch_regressions'), known(world), tags]).toEqual([
      0,
      [rotated],
      [undefined, '"1"', undefined],
    ])
  })

  test('applies a state from the cache of the server where it has none, or where the server knows its own', async () => {
    const cached = (number: number) => ({ ...pulled({ peers: [peer(number)] }, `"${number}"`), isDegraded: true })
    const world = pulling([cached(2), cached(3)])
    world.pull()
    await world.clock.advance(20)
    expect([known(world), world.node.etag]).toEqual([[peer(2)], '"2"'])
    world.pull()
    await world.clock.advance(20)
    expect([known(world), world.tags, world.count('degraded_pulls')]).toEqual([[peer(3)], [undefined, '"2"'], 2])
  })

  test('ignores a state from the cache of the server that may be older than its own', async () => {
    const world = pulling([
      pulled({ peers: [peer(2)] }),
      { ...pulled({ peers: [peer(3)] }, '"old"'), isDegraded: true },
    ])
    world.pull()
    await world.clock.advance(20)
    world.node.etag = undefined
    world.pull()
    await world.clock.advance(20)
    expect([known(world), world.node.etag, world.count('degraded_pulls')]).toEqual([[peer(2)], undefined, 1])
  })
})

describe('An agent that receives', () => {
  async function informed(more: Partial<Options> = {}) {
    const world = pulling([pulled({ peers: [peer(2), peer(3)] })], more)
    world.pull()
    await world.clock.advance(5_000)
    return {
      ...world,
      tell: (payload: object, place = NEXT) => handleEvent(world.deps, world.node, { envelope: hint(payload), place }),
    }
  }

  test('a hint with its peers applies it without a call', async () => {
    const world = await informed()
    world.tell({
      peers: [
        { node_id: id(2), changes: ['endpoint_changed'], endpoint: '198.18.0.2:9' },
        { node_id: id(3), changes: ['deregistered'] },
        { ...peer(4), changes: ['registered', 'psk_assigned'], psk_issued_at: issued(7) },
      ],
    })
    await world.clock.advance(5_000)
    expect(known(world)).toEqual([peer(2, { endpoint: '198.18.0.2:9' }), peer(4, { psk_issued_at: issued(7) })])
    expect(world.tags).toHaveLength(1)
  })

  test('an older key than the known one keeps the newer one', async () => {
    const world = await informed()
    world.tell({
      peers: [{ node_id: id(2), changes: ['key_rotated'], public_key: 'old', psk_issued_at: issued(0) }],
    })
    expect(known(world)[0]).toEqual(peer(2))
  })

  test.each([
    ['a resync', { reason: 'resync' }, NEXT],
    ['after a gap', {}, { kind: 'gap', from: 1, to: 2 }],
    ['late', {}, { kind: 'reordered' }],
    ['of its own sessions', { blocks: ['sessions'] }, NEXT],
    [
      'too little of an unknown peer',
      { peers: [{ node_id: id(9), changes: ['endpoint_changed'], endpoint: 'x:1' }] },
      NEXT,
    ],
  ] as const)('%s pulls its state', async (_, payload, place) => {
    const world = await informed()
    world.tell(payload, place)
    await world.clock.advance(1_000)
    expect(world.tags).toHaveLength(2)
  })

  test('a hint with groups moves the peers that it knows, after their changes', async () => {
    const world = await informed()
    world.tell({
      peers: [
        { node_id: id(2), changes: ['groups_changed'], groups: [5, 9] },
        { ...peer(4), changes: ['registered', 'psk_assigned'], groups: [3] },
      ],
      groups: [
        { group: 7, added: [id(2), id(3), id(4), id(88)], removed: [] },
        { group: 9, added: [], removed: [id(2), id(3)] },
        { group: 3, added: [id(4)], removed: [id(1)] },
      ],
    })
    await world.clock.advance(5_000)
    expect(known(world)).toEqual([peer(2, { groups: [5, 7] }), peer(3, { groups: [7] }), peer(4, { groups: [3, 7] })])
    expect(world.tags).toHaveLength(1)
  })

  test('an event of an unknown type pulls its state', async () => {
    const world = await informed()
    handleEvent(world.deps, world.node, { envelope: event('of_tomorrow', {}), place: NEXT })
    await world.clock.advance(1_000)
    expect(world.tags).toHaveLength(2)
  })

  test('reports its epoch digest after a quiet time, and once for each state', async () => {
    const world = await informed()
    const digests = () =>
      world.calls.filter(({ operation }) => operation === 'PutNodeStateReport').map(({ input }) => input)
    const epochs = (three: number) =>
      digestEpochs(
        new Map([
          [id(2), `${issued(1)}|${issued(1)}`],
          [id(3), `${issued(1)}|${issued(three)}`],
        ]),
      )
    expect(digests()).toEqual([{ id: id(1), key: 'mesh.edge-epochs', body: { value: epochs(1) } }])
    world.tell({
      peers: [{ node_id: id(3), changes: ['key_rotated'], public_key: 'k', psk_issued_at: issued(2) }],
    })
    world.tell({
      peers: [{ node_id: id(3), changes: ['key_rotated'], public_key: 'l', psk_issued_at: issued(3) }],
    })
    await world.clock.advance(5_000)
    expect(digests().slice(1)).toEqual([{ id: id(1), key: 'mesh.edge-epochs', body: { value: epochs(3) } }])
  })
})

describe('An agent with policies', () => {
  const ISOLATE = [{ action: 'isolate', direction: 'ingress' }]
  const ACCEPT = {
    action: 'accept',
    cidrs: [],
    direction: 'ingress',
    except_cidrs: [],
    except_groups: [],
    groups: [7],
    ports: [[22, 22]],
    protocol: 'tcp',
  }
  const given = (number: number, rules: readonly object[], revision = 1) => ({
    policy_id: id(number),
    revision_id: id(1_000 + revision),
    fingerprint: createHash('sha256').update(canonicalize(rules)).digest('base64'),
    rules,
  })
  const stateWith = (...policies: readonly object[]) => pulled({ policy: { policies } })
  const SSH = { direction: 'ingress', protocol: 'tcp', port: 22 } as const

  async function ruled(states: readonly PulledBytes[]) {
    const world = pulling(states)
    world.pull()
    await world.clock.advance(20)
    const ssh = (groups: readonly number[]) => world.node.policies?.decide({ groups, meshAddress: '100.64.0.2' }, SSH)
    return {
      ...world,
      /** Whether it lets a peer of these groups in. */
      admits: (...groups: readonly number[]) => ssh(groups)?.allowed,
      update: (policy: object, place = NEXT) =>
        handleEvent(world.deps, world.node, {
          envelope: event('policy_updated', { node_id: id(1), ...policy }),
          place,
        }),
    }
  }

  test('decides by those of the pull and by their updates, without a further pull', async () => {
    const world = await ruled([stateWith(given(5, ISOLATE), given(6, [ACCEPT]))])
    expect([world.admits(7), world.admits(8), world.admits()]).toEqual([true, false, false])
    world.update(given(6, [{ ...ACCEPT, groups: [8] }], 2))
    expect([world.admits(7), world.admits(8)]).toEqual([false, true])
    world.update(given(5, [], 2))
    expect([world.admits(7), world.admits(8)]).toEqual([true, true])
    await world.clock.advance(5_000)
    expect([world.tags.length, world.count('bad_policies'), world.count('unknown_entries')]).toEqual([1, 0, 0])
  })

  test('keeps what it had where the rules do not have their fingerprint, and pulls', async () => {
    const forged = { ...given(5, ISOLATE, 2), rules: [] }
    const world = await ruled([stateWith(given(5, ISOLATE)), stateWith(forged), stateWith(given(5, [], 3))])
    world.update(forged)
    expect([world.admits(), world.count('bad_policies')]).toEqual([false, 1])
    await world.clock.advance(1_000)
    expect([world.admits(), world.count('bad_policies'), world.tags.length]).toEqual([false, 2, 2])
    world.pull()
    await world.clock.advance(20)
    expect([world.admits(), world.count('bad_policies')]).toEqual([true, 2])
  })

  test('counts entries that it does not understand once, and lets them restrict it', async () => {
    const later = given(5, [{ action: 'deny', direction: 'ingress' }])
    const world = await ruled([stateWith(later)])
    world.pull()
    await world.clock.advance(20)
    expect([world.admits(7), world.count('unknown_entries')]).toEqual([false, 1])
    world.update(given(5, [...ISOLATE, { ...ACCEPT, unless: [] }], 2))
    expect([world.admits(7), world.count('unknown_entries'), world.count('bad_policies')]).toEqual([false, 2, 0])
  })

  test('does not apply an update out of order, and pulls', async () => {
    const world = await ruled([stateWith(given(5, ISOLATE))])
    world.update(given(5, [], 2), { kind: 'reordered' })
    expect(world.admits()).toBe(false)
    await world.clock.advance(1_000)
    expect(world.tags).toHaveLength(2)
  })

  test('keeps an update that arrives during a pull, and pulls the whole state again', async () => {
    let answer: (state: PulledBytes) => void = () => undefined
    const slow = new Promise<PulledBytes>((resolve) => (answer = resolve))
    const states = [stateWith(), slow, stateWith(given(5, ISOLATE, 3))]
    const tags: unknown[] = []
    const world = worldOf({ wire: { pull: async ({ etag }) => states[tags.push(etag) - 1] } })
    const revisions = () => world.node.policies?.list().map(({ revisionId }) => revisionId)
    pullSoon(world.deps, world.node, 0)
    await world.clock.advance(20)
    pullSoon(world.deps, world.node, 0)
    await world.clock.advance(20)
    const update = event('policy_updated', { node_id: id(1), ...given(5, ISOLATE, 2) })
    handleEvent(world.deps, world.node, { envelope: update, place: NEXT })
    answer(stateWith())
    await world.clock.advance(0)
    expect(revisions()).toEqual([id(1_002)])
    await world.clock.advance(20)
    expect([revisions(), tags]).toEqual([[id(1_003)], [undefined, '"1"', undefined]])
  })

  test('knows no policy before its first pull', () => {
    const world = worldOf({})
    handleEvent(world.deps, world.node, {
      envelope: event('policy_updated', { node_id: id(1), ...given(5, ISOLATE) }),
      place: NEXT,
    })
    expect([world.node.policies, world.called()]).toEqual([undefined, []])
  })
})

describe('An agent with a pending key rotation', () => {
  const KEYS = hint({ blocks: ['keys'] })

  test('sends one new key within seconds, and has a new half of each epoch', async () => {
    const world = worldOf({ answers: { PostKeysRotate: () => ({ psk_issued_at: issued(8) }) } })
    handleEvent(world.deps, world.node, { envelope: KEYS, place: NEXT })
    handleEvent(world.deps, world.node, { envelope: KEYS, place: NEXT })
    await world.clock.advance(3_000)
    const sent = world.calls.filter(({ operation }) => operation === 'PostKeysRotate')
    expect(sent).toMatchObject([
      { token: world.node.identity.nsk, input: { body: { public_key: expect.stringMatching(/^.{43}=$/) } } },
    ])
    expect([world.count('key_rotations'), world.node.identity.psk_issued_at]).toEqual([1, issued(8)])
  })

  test('treats it as done if no rotation is pending', async () => {
    const world = worldOf({
      answers: {
        PostKeysRotate: () => {
          throw refusal(409, 'no_pending_rotation')
        },
      },
    })
    handleEvent(world.deps, world.node, { envelope: KEYS, place: NEXT })
    await world.clock.advance(3_000)
    expect([world.count('needless_rotations'), world.count('errors')]).toEqual([1, 0])
  })
})

describe('An agent that fetches the key of an edge', () => {
  const KEY = new Uint8Array(32).fill(7)
  const epoch = (own: number, far: number) => `${issued(own)}|${issued(far)}`

  /** Fetches the same edge as often as there are epochs. */
  async function fetching(
    epochs: readonly string[],
    alter: (one: ReturnType<typeof sealed>) => ReturnType<typeof sealed> = (one) => one,
  ) {
    const left = [...epochs]
    const world = worldOf({
      size: 2,
      wire: { fetchEdgeKey: async (call) => alter(sealed(call, left.shift() ?? '', KEY)) },
    })
    for (const _ of epochs) {
      fetchEdgeKeySoon(world.deps, world.node, id(2))
      await world.clock.advance(1_000)
    }
    return world
  }

  test('opens it and applies its epoch', async () => {
    const world = await fetching([epoch(1, 1), epoch(1, 2), epoch(1, 2)])
    expect(world.node.edges?.get(id(2))).toEqual({ own: issued(1), peer: issued(2) })
    expect([world.count('epoch_regressions'), world.count('bad_envelopes')]).toEqual([0, 0])
  })

  test.each([
    ['older', epoch(1, 2)],
    ['older in one half', epoch(2, 1)],
  ])('refuses one that is %s than the current one', async (_, late) => {
    const world = await fetching([epoch(1, 3), late])
    expect([world.count('epoch_regressions'), world.node.edges?.get(id(2))?.peer]).toEqual([1, issued(3)])
  })

  test.each([
    ['names another node secret key', (one: ReturnType<typeof sealed>) => ({ ...one, kid: 'another0' })],
    ['is of another epoch than it says', (one: ReturnType<typeof sealed>) => ({ ...one, epoch: epoch(1, 9) })],
    [
      'was altered',
      (one: ReturnType<typeof sealed>) => ({ ...one, envelope: one.envelope.with(20, (one.envelope[20] ?? 0) ^ 1) }),
    ],
    ['says no epoch', (one: ReturnType<typeof sealed>) => ({ ...one, epoch: 'soon' })],
  ])('refuses one that %s', async (_, alter) => {
    const world = await fetching([epoch(1, 1)], alter)
    expect([world.count('bad_envelopes'), world.node.edges?.size ?? 0]).toEqual([1, 0])
  })

  test.each([
    ['agrees', (_nodeId: string) => KEY, 0],
    ['does not agree', (nodeId: string) => new Uint8Array(32).fill(nodeId === id(1) ? 1 : 2), 1],
  ])('%s with the other end', async (_, keyOf, mismatches) => {
    const world = worldOf({
      size: 2,
      wire: { fetchEdgeKey: async (call) => sealed(call, epoch(1, 1), keyOf(call.nodeId)) },
    })
    for (const node of world.nodes) fetchEdgeKeySoon(world.deps, node, id(3 - node.place - 1))
    await world.clock.advance(1_000)
    expect([world.count('edges_compared'), world.count('edge_mismatches')]).toEqual([1, mismatches])
  })
})

describe('An agent with an execution or a session', () => {
  const EXECUTION = {
    execution_id: id(77),
    action: 'ping',
    type: 'builtin',
    status: 'pending',
    requested_at: '2026-01-01T00:00:00.000Z',
    expires_at: '2026-01-01T00:05:00.000Z',
  }
  const statuses = ({ calls }: AgentWorld) =>
    calls
      .filter(({ operation }) => operation === 'PostExecutionCallback')
      .map(({ input }) => (input['body'] as { status: string }).status)
  const asked = (world: ReturnType<typeof worldOf>) =>
    handleEvent(world.deps, world.node, { envelope: event('action_request', EXECUTION), place: NEXT })

  test.each([
    [0, ['ack', 'started', 'succeeded'], 'executions_succeeded'],
    [1, ['ack', 'started', 'failed'], 'executions_failed'],
  ])('reports each status once, with a failure share of %s', async (executionFailures, said, counted) => {
    const world = worldOf({ habits: { executionFailures }, answers: { PostExecutionCallback: () => undefined } })
    asked(world)
    asked(world)
    await world.clock.advance(1_000)
    expect([statuses(world), world.count(counted)]).toEqual([said, 1])
  })

  test('continues from the status in a pull', async () => {
    const world = pulling([pulled({ executions: [{ ...EXECUTION, status: 'ack' }] })], {
      habits: { executionFailures: 0 },
      answers: { PostExecutionCallback: () => undefined },
    })
    world.pull()
    await world.clock.advance(1_000)
    expect(statuses(world)).toEqual(['started', 'succeeded'])
  })

  test('stops if it was cancelled meanwhile', async () => {
    const world = worldOf({
      answers: {
        PostExecutionCallback: ({ input }) => {
          if ((input['body'] as { status: string }).status === 'started') throw refusal(409, 'illegal_transition')
        },
      },
    })
    asked(world)
    await world.clock.advance(1_000)
    expect([statuses(world), world.count('overtaken'), world.count('errors')]).toEqual([['ack', 'started'], 1, 0])
  })

  test('reports activity in a session until it is revoked', async () => {
    let activities = 0
    const world = worldOf({
      answers: {
        PostSessionActivity: () => {
          if ((activities += 1) === 2) throw refusal(409, 'session_already_revoked')
        },
      },
    })
    const session = {
      session_id: id(5),
      jti: id(5),
      kind: 'ssh',
      target: 'root',
      expires_at: '2026-01-01T01:00:00.000Z',
    }
    handleEvent(world.deps, world.node, { envelope: event('session_setup', session), place: NEXT })
    await world.clock.advance(5_000)
    expect([activities, world.count('sessions'), world.count('overtaken'), world.count('errors')]).toEqual([2, 1, 1, 0])
  })
})

test('A call during which the node replaced its secret key is repeated with the new one', async () => {
  const world = worldOf({ answers: { PostNodeSecretKeyRotate: () => ({ nsk: 'new' }) } })
  const presented: string[] = []
  const outcome = attempt(world.deps, world.node, {
    operation: 'heartbeat',
    isRepeatable: false,
    call: async (nsk) => {
      presented.push(nsk)
      await world.clock.pause(100, world.deps.until)
      if (nsk !== 'new') throw refusal(401, 'unauthorized')
    },
  })
  await rotateSecretKey(world.deps, world.node)
  await world.clock.advance(1_000)
  expect([(await outcome).ok, presented.length, world.count('errors')]).toEqual([true, 2, 0])
})
