import { afterEach, describe, expect, test } from 'vitest'
import { TransportFailure } from '../../../../../src/client/failures.ts'
import { attempt } from '../../../../../src/client/agent/calls/attempt.ts'
import { rotateSecretKey } from '../../../../../src/client/agent/keys/secret-key-rotation.ts'
import type { MemberIdentity } from '../../../../../src/client/agent/member.ts'
import { agentWorld, refusal, type AgentWorld } from '../../../../support/fleet/mesh-agents.ts'

const worlds: AgentWorld[] = []
afterEach(() => worlds.splice(0).forEach((world) => world.end()))

interface Options {
  /** The keys that the server knows when a call is made. */
  readonly valid: ReadonlySet<string>
  readonly rotations?: readonly (Error | string)[]
  readonly stored?: Partial<MemberIdentity>
  /** Resolves when the disk has the state. */
  readonly disk?: () => Promise<void>
}

/** A node with the key `old`, its heartbeats with the key of each, and what was stored. */
function keyed({ valid, rotations = [], stored = {}, disk = async () => undefined }: Options) {
  const left = [...rotations]
  const presented: unknown[] = []
  const saved: unknown[] = []
  const refused: string[] = []
  const world = agentWorld({
    answers: {
      PostNodeSecretKeyRotate({ token }) {
        presented.push(`rotate with ${String(token)}`)
        const answer = left.shift() ?? 'none'
        if (answer instanceof Error) throw answer
        return { nsk: answer }
      },
    },
    actions: {
      async save({ identity: { nsk, next_nsk } }) {
        await disk()
        saved.push([nsk, next_nsk])
      },
      refused: (_, code) => void refused.push(code),
    },
  })
  worlds.push(world)
  const [node] = world.nodes
  if (node === undefined) throw new Error('no node')
  node.identity = { ...node.identity, nsk: 'old', ...stored }
  const beat = () =>
    attempt(world.deps, node, {
      operation: 'heartbeat',
      isRepeatable: true,
      call: async (nsk) => {
        presented.push(nsk)
        if (!valid.has(nsk)) throw refusal(401, 'unauthorized')
      },
    })
  return { ...world, node, presented, saved, refused, beat, keys: () => [node.identity.nsk, node.identity.next_nsk] }
}

describe('A new node secret key', () => {
  test('is stored beside the old one before its first use, after which the old one is forgotten', async () => {
    let write: () => void = () => undefined
    const written = new Promise<void>((resolve) => (write = resolve))
    const world = keyed({ valid: new Set(['old', 'new']), rotations: ['new'], disk: () => written })
    const rotating = rotateSecretKey(world.deps, world.node)
    await world.clock.advance(10)
    await world.beat()
    expect([world.presented, world.saved]).toEqual([['rotate with old', 'old'], []])
    write()
    await rotating
    expect([world.saved, world.keys()]).toEqual([[['old', 'new']], ['old', 'new']])
    await world.beat()
    await world.clock.advance(10)
    expect([world.presented.at(-1), world.keys(), world.saved.at(-1)]).toEqual([
      'new',
      ['new', undefined],
      ['new', undefined],
    ])
  })

  test('is used first after a restart', async () => {
    const world = keyed({ valid: new Set(['new']), stored: { next_nsk: 'new' } })
    await world.beat()
    expect([world.presented, world.keys(), world.refused]).toEqual([['new'], ['new', undefined], []])
  })

  test('that the server does not know is forgotten, and the call is repeated with the old one', async () => {
    const world = keyed({ valid: new Set(['old']), stored: { next_nsk: 'new' } })
    const beating = world.beat()
    await world.clock.advance(1_000)
    expect([(await beating).ok, world.presented, world.keys()]).toEqual([true, ['new', 'old'], ['old', undefined]])
    expect([world.saved, world.refused]).toEqual([[['old', undefined]], []])
  })

  test('is requested again with the old one where the answer was lost', async () => {
    const lost = new TransportFailure('broken', 'the connection broke')
    const world = keyed({ valid: new Set(['old', 'new']), rotations: [lost, 'new'] })
    const rotating = rotateSecretKey(world.deps, world.node)
    await world.clock.advance(1_000)
    await rotating
    expect([world.presented, world.keys()]).toEqual([
      ['rotate with old', 'rotate with old'],
      ['old', 'new'],
    ])
  })
})

describe('A refused node secret key', () => {
  test('is reported once', async () => {
    const world = keyed({ valid: new Set() })
    await world.beat()
    await world.beat()
    expect([world.refused, world.node.isKeyRefused, world.presented]).toEqual([['unauthorized'], true, ['old', 'old']])
  })

  test('is reported once the old and the next one are refused', async () => {
    const world = keyed({ valid: new Set(), stored: { next_nsk: 'new' } })
    const beating = world.beat()
    await world.clock.advance(1_000)
    await beating
    expect([world.refused, world.presented]).toEqual([['unauthorized'], ['new', 'old']])
  })

  test('means nothing where it was replaced during the call', async () => {
    const world = keyed({ valid: new Set(['new']) })
    const calling = attempt(world.deps, world.node, {
      operation: 'heartbeat',
      isRepeatable: false,
      call: async (nsk) => {
        if (nsk === 'new') return
        world.node.identity = { ...world.node.identity, nsk: 'new' }
        throw refusal(401, 'unauthorized')
      },
    })
    await world.clock.advance(1_000)
    expect([(await calling).ok, world.refused]).toEqual([true, []])
  })

  test('is not reported for refusals of other kinds', async () => {
    const world = keyed({ valid: new Set(['old']) })
    await attempt(world.deps, world.node, {
      operation: 'heartbeat',
      isRepeatable: true,
      call: () => Promise.reject(refusal(403, 'nsk_node_mismatch')),
    })
    expect([world.refused, world.node.isKeyRefused]).toEqual([[], false])
  })
})
