import { afterEach, describe, expect, test } from 'vitest'
import { handleDropped, handleEvent } from '../../../../../src/client/agent/events/handle-event.ts'
import type { PulledBytes } from '../../../../../src/client/agent/calls/node-wire.ts'
import { pullSoon } from '../../../../../src/client/agent/state/state-pull.ts'
import { fingerprintOf } from '../../../../../src/shared/policies/fingerprint.ts'
import { canonicalize } from '../../../../../src/shared/canonical-json.ts'
import type { Place } from '../../../../../src/shared/events/order.ts'
import {
  agentWorld,
  id,
  issued,
  peer,
  pulled,
  refusal,
  type AgentWorld,
} from '../../../../support/fleet/mesh-agents.ts'

const worlds: AgentWorld[] = []
afterEach(() => worlds.splice(0).forEach((world) => world.end()))

type Answer = PulledBytes | undefined | Error | Promise<PulledBytes | undefined>

/** An agent that pulls these states in turn, and what it was notified of. `report`: the server's answer to reports. */
function notified(states: readonly Answer[], report: () => unknown = () => ({ accepted_at: '' })) {
  const left = [...states]
  const notes: unknown[][] = []
  const tags: unknown[] = []
  const world = agentWorld({
    answers: { PutNodeStateReport: report },
    wire: {
      pull: async ({ etag }) => {
        tags.push(etag)
        const answer = left.shift()
        if (answer instanceof Error) throw answer
        return answer
      },
    },
    actions: {
      peersChanged: ({ view }) => void notes.push(['peers', view?.list().map(({ node_id: nodeId }) => nodeId)]),
      policiesChanged: ({ policies }) => void notes.push(['policies', policies?.list().length]),
      selfChanged: ({ self }) => void notes.push(['self', self?.name]),
      sessionsChanged: ({ liveSessions }) => void notes.push(['sessions', [...liveSessions.keys()]]),
      executionsGone: (_, live) => void notes.push(['executions', [...live]]),
      execute: (_, { execution_id: one }) => void notes.push(['execute', one]),
      openSession: (_, { session_id: one }) => void notes.push(['open', one]),
    },
  })
  worlds.push(world)
  const [node] = world.nodes
  if (node === undefined) throw new Error('no node')
  /** The notes since the last call. */
  const noted = () => notes.splice(0)
  return {
    ...world,
    node,
    tags,
    noted,
    async pull() {
      pullSoon(world.deps, node, 0)
      await world.clock.advance(20)
      return noted()
    },
    event(type: string, payload: object, place: Place = { kind: 'next' }) {
      const envelope = {
        api_version: 'v1' as const,
        domain_id: id(900),
        event_id: id(901),
        kid: 'k',
        node_id: id(1),
        node_seq: 1,
        occurred_at: '2026-01-01T00:00:00.000Z',
        payload: { ...payload },
        type,
      }
      handleEvent(world.deps, node, { envelope, place })
      return noted()
    },
  }
}

const hint = (payload: object) => ({ reason: 'changed', blocks: ['peers'], peers: [], ...payload })

const EXECUTION = {
  execution_id: id(77),
  action: 'ping',
  type: 'builtin',
  status: 'pending',
  requested_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-01-01T00:05:00.000Z',
}

const session = (number: number) => ({
  session_id: id(number),
  jti: id(number),
  kind: 'tcp',
  target: '127.0.0.1:80',
  expires_at: '2026-01-01T01:00:00.000Z',
})

const policy = (revision: number) => {
  const rules: readonly unknown[] = []
  return { policy_id: id(5), revision_id: id(revision), rules, fingerprint: fingerprintOf(canonicalize(rules)) }
}

const self = (more: object = {}) => ({
  name: 'web-1',
  mesh_address: '100.64.0.1',
  mesh_cidr: '100.64.0.0/10',
  psk_issued_at: issued(1),
  ...more,
})

const NONE_LIVE = ['executions', []]

describe('An agent is notified', () => {
  test('of its first peers and policies, also where there are none, and of nothing where nothing changed', async () => {
    const world = notified([pulled({}), pulled({})])
    expect(await world.pull()).toEqual([['policies', 0], ['peers', []], NONE_LIVE])
    expect(await world.pull()).toEqual([NONE_LIVE])
  })

  test('of peers that a pull adds, changes or removes', async () => {
    const world = notified([
      pulled({ peers: [peer(3)] }),
      pulled({ peers: [peer(2), peer(3)] }),
      pulled({ peers: [peer(2, { endpoint: '198.18.0.1:1' }), peer(3)] }),
      pulled({ peers: [peer(3)] }),
    ])
    await world.pull()
    expect(await world.pull()).toContainEqual(['peers', [id(2), id(3)]])
    expect(await world.pull()).toContainEqual(['peers', [id(2), id(3)]])
    expect(await world.pull()).toContainEqual(['peers', [id(3)]])
  })

  test('once of the changes of a hint, and not before its first pull', async () => {
    const world = notified([pulled({ peers: [peer(2), peer(3)] })])
    const changes = hint({
      peers: [{ node_id: id(2), changes: ['deregistered'] }],
      groups: [{ group: 4, added: [id(3)], removed: [] }],
    })
    expect(world.event('node_state_updated', changes)).toEqual([])
    await world.pull()
    expect(world.event('node_state_updated', changes)).toEqual([['peers', [id(3)]]])
    expect(world.node.view?.find(id(3))?.groups).toEqual([4])
  })

  test('of policies that a pull or an event changes', async () => {
    const world = notified([pulled({}), ...[1, 1, 2].map((one) => pulled({ policy: { policies: [policy(one)] } }))])
    await world.pull()
    expect(await world.pull()).toContainEqual(['policies', 1])
    expect(await world.pull()).toEqual([NONE_LIVE])
    expect(await world.pull()).toContainEqual(['policies', 1])
    expect(world.event('policy_updated', { node_id: id(1), ...policy(3) })).toEqual([['policies', 0]])
    const altered = { node_id: id(1), ...policy(4), fingerprint: 'another' }
    expect(world.event('policy_updated', altered)).toEqual([])
  })

  test('of what the server knows of the node itself, when it changes', async () => {
    const renamed = self({ name: 'web-2' })
    const world = notified([{ self: self() }, { self: self() }, { self: renamed }].map((state) => pulled(state)))
    expect(await world.pull()).toContainEqual(['self', 'web-1'])
    expect(await world.pull()).toEqual([NONE_LIVE])
    expect(await world.pull()).toContainEqual(['self', 'web-2'])
    expect(world.node.self).toEqual(renamed)
  })

  test('of nothing about itself by a server that is too old to give it', async () => {
    const world = notified([pulled({})])
    expect((await world.pull()).flat()).not.toContain('self')
    expect(world.node.self).toBeUndefined()
  })

  test('of the executions that have not ended', async () => {
    const world = notified([pulled({ executions: [EXECUTION] }), pulled({})])
    const notes = await world.pull()
    expect(notes.slice(-2)).toEqual([
      ['execute', id(77)],
      ['executions', [id(77)]],
    ])
    expect(await world.pull()).toEqual([NONE_LIVE])
  })

  test('of sessions that begin, and of those that are over', async () => {
    const world = notified([pulled({ sessions: [session(50)] }), pulled({ sessions: [session(50)] }), pulled({})])
    expect((await world.pull()).slice(-2)).toEqual([
      ['open', id(50)],
      ['sessions', [id(50)]],
    ])
    expect(world.event('session_setup', session(51))).toEqual([
      ['open', id(51)],
      ['sessions', [id(50), id(51)]],
    ])
    expect(await world.pull()).toContainEqual(['sessions', [id(50)]])
    expect(await world.pull()).toContainEqual(['sessions', []])
    expect(world.node.liveSessions.size).toBe(0)
  })
})

test('A first pull from the cache of the server does not cut a session that an event has brought before it', async () => {
  const cached = { ...pulled({ sessions: [session(51)] }, '"1"'), isDegraded: true }
  const world = notified([cached, pulled({ sessions: [session(51)] }, '"2"')])
  world.event('session_setup', session(50))
  const notes = await world.pull()
  expect(notes).toContainEqual(['sessions', [id(50), id(51)]])
  expect(notes.map(([kind]) => kind)).not.toContain('executions')
  expect(await world.pull()).toContainEqual(['sessions', [id(51)]])
})

test('An execution and a session that events bring during a pull stay live, and the next pull decides', async () => {
  let answer: (state: PulledBytes) => void = () => undefined
  const slow = new Promise<PulledBytes>((resolve) => (answer = resolve))
  const world = notified([slow, pulled({}, '"2"')])
  await world.pull()
  world.event('action_request', EXECUTION)
  world.event('session_setup', session(50))
  answer(pulled({}))
  await world.clock.advance(0)
  expect(world.noted().filter(([kind]) => kind === 'executions' || kind === 'sessions')).toEqual([
    ['executions', [id(77)]],
  ])
  expect([...world.node.liveSessions.keys()]).toEqual([id(50)])
  await world.clock.advance(20)
  expect(world.noted()).toEqual([NONE_LIVE, ['sessions', []]])
  expect(world.tags).toEqual([undefined, undefined])
})

/** A pull whose answer comes when `answer` is called. */
function slowPull() {
  let answer: (state: PulledBytes) => void = () => undefined
  const slow = new Promise<PulledBytes>((resolve) => (answer = resolve))
  return { slow, answer: (state: PulledBytes) => answer(state) }
}

describe('A change of where a peer is reached', () => {
  test('brings its candidates or ends them, and leaves its subnets until these change', async () => {
    const reached = { candidates: ['192.168.1.7:51820'], subnets: ['10.20.0.0/16'] }
    const world = notified([pulled({ peers: [peer(2, { endpoint: '198.18.0.1:1', ...reached })] })])
    await world.pull()
    const change = (of: object) => {
      world.event('node_state_updated', hint({ peers: [{ node_id: id(2), ...of }] }))
      return world.node.view?.list()
    }
    const others = { endpoint: '198.18.0.2:2', candidates: ['10.0.0.7:1'] }
    expect(world.node.view?.list()).toMatchObject([reached])
    expect(change({ changes: ['endpoint_changed'], ...others })).toMatchObject([
      { ...others, subnets: reached.subnets },
    ])
    expect(change({ changes: ['endpoint_changed'], endpoint: '' })).toMatchObject([
      { endpoint: '', candidates: [], subnets: reached.subnets },
    ])
    expect(change({ changes: ['subnets_changed'], subnets: [] })).toMatchObject([{ endpoint: '', subnets: [] }])
  })
})

describe('A change that an event brings during a pull', () => {
  test('of a peer stays in force though the answer lacks it, and the next pull decides', async () => {
    const { slow, answer } = slowPull()
    const before = [peer(2, { groups: [4], endpoint: '198.18.0.1:1' }), peer(3)]
    const world = notified([pulled({ peers: before }), slow, pulled({ peers: before })])
    await world.pull()
    await world.pull()
    const changed = { node_id: id(2), changes: ['endpoint_changed'], endpoint: '198.18.0.2:2' }
    const removed = { node_id: id(3), changes: ['deregistered'] }
    const groups = [{ group: 4, added: [], removed: [id(2)] }]
    world.event('node_state_updated', hint({ peers: [changed, removed], groups }))
    answer(pulled({ peers: before }))
    await world.clock.advance(0)
    expect(world.node.view?.list()).toEqual([peer(2, { endpoint: '198.18.0.2:2' })])
    await world.clock.advance(20)
    expect([world.node.view?.list(), world.tags]).toEqual([before, [undefined, '"1"', undefined]])
  })

  test('takes the newer key of the answer', async () => {
    const { slow, answer } = slowPull()
    const world = notified([pulled({ peers: [peer(2)] }), slow])
    await world.pull()
    await world.pull()
    const changed = { node_id: id(2), changes: ['endpoint_changed'], endpoint: '198.18.0.2:2' }
    world.event('node_state_updated', hint({ peers: [changed] }))
    const newer = { public_key: 'new', psk_issued_at: issued(9) }
    answer(pulled({ peers: [peer(2, newer)] }))
    await world.clock.advance(0)
    expect(world.node.view?.list()).toEqual([peer(2, { ...newer, endpoint: '198.18.0.2:2' })])
  })

  test.each([
    ['peer', 'node_state_updated', hint({ peers: [{ node_id: id(2), changes: ['deregistered'] }] })],
    ['policy', 'policy_updated', { node_id: id(1), ...policy(2) }],
  ])('is asked for again where it is the first pull: a %s', async (_, type, payload) => {
    const { slow, answer } = slowPull()
    const world = notified([slow, pulled({}, '"2"')])
    await world.pull()
    world.event(type, payload)
    answer(pulled({ peers: [peer(2)] }))
    await world.clock.advance(50)
    expect([world.tags.length, world.node.view?.list()]).toEqual([2, []])
  })
})

describe('An agent pulls its state', () => {
  test('again after a failure, with growing pauses, until it has an answer', async () => {
    const away = () => refusal(503, 'datastore_unavailable')
    const world = notified([away(), away(), pulled({})])
    await world.pull()
    await world.clock.advance(900)
    expect(world.tags.length).toBe(1)
    await world.clock.advance(200)
    expect(world.tags.length).toBe(2)
    await world.clock.advance(1_500)
    expect(world.tags.length).toBe(2)
    await world.clock.advance(1_000)
    expect([world.tags.length, world.node.view?.list()]).toEqual([3, []])
    await world.clock.advance(10_000)
    expect(world.tags.length).toBe(3)
  })

  test('not again after a refusal that it would get again', async () => {
    const world = notified([refusal(403, 'forbidden')])
    await world.pull()
    await world.clock.advance(10_000)
    expect(world.tags.length).toBe(1)
  })

  test('whole after an event, and with its tag where no event has changed anything', async () => {
    const tagged = ['"2"', '"3"', '"4"', '"5"'].map((tag) => pulled({ peers: [peer(2)] }, tag))
    const world = notified([pulled({}), ...tagged])
    await world.pull()
    world.event('session_setup', session(50))
    await world.pull()
    world.event('node_state_updated', hint({ peers: [{ node_id: id(2), changes: ['psk_assigned'] }] }))
    await world.pull()
    world.event('policy_updated', { node_id: id(1), ...policy(2) })
    await world.pull()
    world.event('node_state_updated', { reason: 'resync', blocks: [], peers: [] })
    await world.clock.advance(20)
    expect(world.tags).toEqual([undefined, undefined, undefined, undefined, '"4"'])
  })

  test.each([
    ['an execution', 'action_request', EXECUTION],
    ['a session', 'session_setup', session(50)],
  ])('after a gap before %s, which it takes all the same', async (_, type, payload) => {
    const world = notified([pulled({}), pulled({})])
    await world.pull()
    expect(world.event(type, payload, { kind: 'gap', from: 1, to: 2 }).length).toBeGreaterThan(0)
    await world.clock.advance(20)
    expect(world.tags.length).toBe(2)
  })

  test('after a frame that was dropped', async () => {
    const world = notified([pulled({}), undefined])
    await world.pull()
    handleDropped(world.deps, world.node)
    await world.clock.advance(20)
    expect(world.tags).toEqual([undefined, '"1"'])
  })

  test.each([
    ['a lone surrogate', () => '\ud800'],
    ['lists that are nested too deeply', () => nested(100_000)],
  ])('after a policy without a canonical form, which it refuses: %s', async (_, ruleOf) => {
    const world = notified([pulled({}), pulled({})])
    await world.pull()
    world.event('policy_updated', { node_id: id(1), ...policy(2), rules: [ruleOf()] })
    await world.clock.advance(20)
    expect([world.count('bad_policies'), world.tags.length]).toEqual([1, 2])
  })
})

function nested(depth: number): unknown {
  let value: unknown = []
  for (let level = 0; level < depth; level += 1) value = [value]
  return value
}

test('A digest that the server could not take is reported again', async () => {
  const answers = [refusal(503, 'datastore_unavailable'), { accepted_at: '' }]
  const world = notified([pulled({ peers: [peer(2)] })], () => {
    const answer = answers.shift()
    if (answer instanceof Error) throw answer
    return answer
  })
  const reports = () => world.calls.filter(({ operation }) => operation === 'PutNodeStateReport').length
  await world.pull()
  await world.clock.advance(2_500)
  expect(reports()).toBe(1)
  await world.clock.advance(20_000)
  expect(reports()).toBe(2)
})

describe('The name of a peer', () => {
  const named = (number: number, name: string) => peer(number, { name })
  const unnamed = (number: number) => {
    const { name: _, ...facts } = peer(number)
    return facts
  }

  test('comes with pulls, and is empty where an older server gives none', async () => {
    const world = notified([pulled({ peers: [named(2, 'web-2'), unnamed(3)] })])
    await world.pull()
    expect(world.node.view?.list().map(({ name }) => name)).toEqual(['web-2', ''])
  })

  test('follows a rename by a pull and by a hint', async () => {
    const world = notified([pulled({ peers: [named(2, 'web-2')] }), pulled({ peers: [named(2, 'web-3')] })])
    await world.pull()
    expect(await world.pull()).toContainEqual(['peers', [id(2)]])
    expect(world.node.view?.find(id(2))?.name).toBe('web-3')
    world.event('node_state_updated', hint({ peers: [{ node_id: id(2), changes: ['renamed'], name: 'web-4' }] }))
    expect(world.node.view?.find(id(2))).toEqual(named(2, 'web-4'))
  })

  test('comes with the hint of a new peer', async () => {
    const world = notified([pulled({})])
    await world.pull()
    const registered = { ...named(2, 'web-2'), changes: ['registered'] }
    world.event('node_state_updated', hint({ peers: [registered] }))
    expect(world.node.view?.list()).toEqual([named(2, 'web-2')])
  })

  test.each([
    ['a name that is no text', { peers: [{ ...unnamed(2), name: 7 }] }],
    ['itself without a CIDR', { self: { ...self(), mesh_cidr: '' } }],
    ['itself with a malformed instant', { self: self({ psk_issued_at: 'soon' }) }],
    ['itself as a text', { self: 'web-1' }],
  ])('and the block "self" are checked: a state with %s is refused', async (_, blocks) => {
    const world = notified([pulled(blocks)])
    expect([await world.pull(), world.count('bad_snapshots'), world.node.view]).toEqual([[], 1, undefined])
  })
})
