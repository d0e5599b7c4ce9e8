import { afterEach, describe, expect, test } from 'vitest'
import { TransportFailure } from '../../../../../src/client/failures.ts'
import { fetchEdgeKeysSoon } from '../../../../../src/client/agent/keys/edge-key.ts'
import { resumeRotation, rotateSoon } from '../../../../../src/client/agent/keys/key-rotation.ts'
import { pullSoon } from '../../../../../src/client/agent/state/state-pull.ts'
import {
  agentWorld,
  id,
  issued,
  pulled,
  refusal,
  sealed,
  type AgentWorld,
} from '../../../../support/fleet/mesh-agents.ts'

const worlds: AgentWorld[] = []
afterEach(() => worlds.splice(0).forEach((world) => world.end()))

const broken = () => new TransportFailure('broken', 'the connection broke')
/** All tries of one call. */
const unanswered = Array.from({ length: 8 }, broken)
/** No answer before the deadline of the call. */
const late = () => new TransportFailure('timeout', 'no answer')
const CLIENT_DEADLINE_MS = 15_000
const inUse = () => refusal(409, 'public_key_in_use')
const none = () => refusal(409, 'no_pending_rotation')
const done = (number: number) => ({ psk_issued_at: issued(number) })

interface Options {
  /** The answers of the server, in order; then there is no pending rotation. */
  readonly answers: readonly (Error | { readonly psk_issued_at: string })[]
  /** The own half of the epochs that the server gives; undefined: it gives none. */
  readonly ownHalf?: number
  /** The own half of the first epoch, which the server gives later. */
  readonly slowHalf?: number
  /** A pair that an earlier run has stored. */
  readonly stored?: { readonly publicKey: string; readonly privateKey: string }
  readonly isInDoubt?: boolean
  readonly size?: number
  /** How long it takes to store the own pair. */
  readonly saveMs?: number
}

/** A node with the half `issued(5)` and one peer, and what was stored and sent, in order. */
function rotating({ answers, ownHalf, slowHalf, stored, isInDoubt = false, size = 2, saveMs = 0 }: Options) {
  const left = [...answers]
  const steps: string[] = []
  const sent: string[] = []
  const deadlinesMs: unknown[] = []
  let startMs = 0
  const world = agentWorld({
    size,
    answers: {
      PutNodeStateReport: () => ({ accepted_at: '' }),
      async PostKeysRotate({ input, timeoutMs }) {
        const { public_key: key } = input['body'] as { readonly public_key: string }
        sent.push(key)
        deadlinesMs.push(timeoutMs)
        steps.push('sent')
        const answer = left.shift() ?? none()
        if (answer instanceof TransportFailure && answer.fault === 'timeout')
          await world.clock.pause(Number(timeoutMs ?? CLIENT_DEADLINE_MS), world.deps.until)
        if (answer instanceof Error) throw answer
        return answer
      },
    },
    wire: {
      fetchEdgeKey: async (call) => {
        const isSlow = slowHalf !== undefined && !steps.includes('fetched')
        steps.push('fetched')
        if (isSlow) await world.clock.pause(SLOW_MS, world.deps.until)
        if (isSlow) return sealed(call, `${issued(slowHalf)}|${issued(1)}`, new Uint8Array(32))
        if (ownHalf === undefined) throw refusal(404, 'peer_not_found')
        return sealed(call, `${issued(ownHalf)}|${issued(1)}`, new Uint8Array(32))
      },
    },
    actions: {
      async save({ nextKey }) {
        steps.push(nextKey === undefined ? 'saved' : 'saved next')
        if (nextKey === undefined) await world.clock.pause(saveMs, world.deps.until)
      },
      async ownKeyChanged() {
        steps.push(`device after ${world.clock.now() - startMs} ms`)
      },
    },
  })
  worlds.push(world)
  const [node] = world.nodes
  if (node === undefined) throw new Error('no node')
  node.identity = { ...node.identity, private_key: 'own', psk_issued_at: issued(5) }
  node.nextKey = stored
  node.isNextInDoubt = isInDoubt
  startMs = world.clock.now()
  return { ...world, node, sent, deadlinesMs, steps, rotate: () => rotateSoon(world.deps, node) }
}

const SLOW_MS = 300
/** Random delays are 0, and every pause after a failure has half of its length. */
const A_WHILE_MS = 30_000

describe('A key rotation', () => {
  test('stores the next pair before it sends it, and gives it to the device one second after the answer', async () => {
    const world = rotating({ answers: [done(8)], ownHalf: 8 })
    world.rotate()
    await world.clock.advance(100)
    expect(world.steps.slice(0, 3)).toEqual(['saved next', 'sent', 'saved'])
    await world.clock.advance(2_000)
    expect(world.steps).toEqual(['saved next', 'sent', 'saved', 'fetched', 'device after 1010 ms'])
    expect(world.node.identity).toMatchObject({
      psk_issued_at: issued(8),
      private_key: expect.not.stringMatching('own'),
    })
    expect([world.node.nextKey, world.node.isNextInDoubt, world.node.isRotating]).toEqual([undefined, false, false])
    expect([world.count('key_rotations'), world.count('errors')]).toEqual([1, 0])
  })

  test.each([
    ['takes less', 700, 'device after 1010 ms'],
    ['takes longer', 1_300, 'device after 1310 ms'],
  ])('lets the second pass while it stores the pair, where that %s', async (_, saveMs, step) => {
    const world = rotating({ answers: [done(8)], ownHalf: 8, saveMs })
    world.rotate()
    await world.clock.advance(2_500)
    expect(world.steps.slice(0, 3)).toEqual(['saved next', 'sent', 'saved'])
    expect(world.steps).toContain(step)
  })

  test('whose answer is lost gives the new pair to the device within 4 s', async () => {
    const world = rotating({ answers: [late(), none()], ownHalf: 8 })
    world.rotate()
    await world.clock.advance(4_000)
    expect(world.node.identity).toMatchObject({
      psk_issued_at: issued(8),
      private_key: expect.not.stringMatching('own'),
    })
    expect(world.steps.filter((step) => step.startsWith('device'))).toEqual(['device after 3030 ms'])
    expect([new Set(world.sent).size, world.count('retries'), world.count('errors')]).toEqual([1, 1, 0])
    expect([world.node.nextKey, world.node.isNextInDoubt]).toEqual([undefined, false])
  })

  test('gives a slow server more time with each repeat, up to the deadline of the client', async () => {
    const world = rotating({ answers: [late(), late(), late(), late(), done(8)], ownHalf: 8 })
    world.rotate()
    await world.clock.advance(2 * A_WHILE_MS)
    expect(world.deadlinesMs).toEqual([2_000, 4_000, 8_000, undefined, undefined])
    expect([new Set(world.sent).size, world.node.identity.psk_issued_at]).toEqual([1, issued(8)])
    // Only the timeout of the client is an error.
    expect([world.count('retries'), world.count('errors')]).toEqual([3, 1])
  })

  test('drops the pair where no rotation is pending at its first try', async () => {
    const world = rotating({ answers: [none()], ownHalf: 5 })
    world.rotate()
    await world.clock.advance(A_WHILE_MS)
    expect(world.steps).toEqual(['saved next', 'sent', 'saved'])
    expect([world.node.identity.private_key, world.node.nextKey, world.node.isRotating]).toEqual([
      'own',
      undefined,
      false,
    ])
    expect([world.count('needless_rotations'), world.count('errors')]).toEqual([1, 0])
  })

  test.each([
    ['no answer', unanswered],
    ['an internal error', [refusal(500, 'internal')]],
    ['a stopping server', Array.from({ length: 8 }, () => refusal(503, 'shutting_down'))],
    ['a limit', Array.from({ length: 8 }, () => refusal(429, 'per_node_rate_limited'))],
  ])('repeats with the same pair after %s, without another request of the server', async (_, failures) => {
    const world = rotating({ answers: [...failures, done(8)], ownHalf: 8 })
    world.rotate()
    await world.clock.advance(A_WHILE_MS)
    expect(world.sent.length).toBe(failures.length + 1)
    expect(new Set(world.sent).size).toBe(1)
    expect([world.node.identity.psk_issued_at, world.node.nextKey]).toEqual([issued(8), undefined])
  })

  test('repeats with the same pair after a restart', async () => {
    const stored = { publicKey: 'next public', privateKey: 'next private' }
    const world = rotating({ answers: [done(8)], ownHalf: 8, stored })
    resumeRotation(world.deps, world.node)
    await world.clock.advance(A_WHILE_MS)
    expect(world.sent).toEqual(['next public'])
    expect(world.node.identity).toMatchObject({ private_key: 'next private', psk_issued_at: issued(8) })
  })

  test('does nothing after a restart without a next pair', async () => {
    const world = rotating({ answers: [] })
    resumeRotation(world.deps, world.node)
    await world.clock.advance(A_WHILE_MS)
    expect(world.sent).toEqual([])
  })

  test.each([
    ['public_key_in_use', inUse, 1],
    ['invalid_public_key', () => refusal(400, 'invalid_public_key'), 1],
  ])('begins with a fresh pair after %s at the first try', async (_, refused, errors) => {
    const world = rotating({ answers: [refused(), done(8)], ownHalf: 8 })
    world.rotate()
    await world.clock.advance(A_WHILE_MS)
    expect([world.sent.length, new Set(world.sent).size]).toEqual([2, 2])
    expect([world.node.identity.psk_issued_at, world.count('errors')]).toEqual([issued(8), errors])
  })

  test('begins with a fresh pair where an earlier try has no known end and the key is invalid', async () => {
    const world = rotating({ answers: [...unanswered, refusal(400, 'invalid_public_key'), done(8)], ownHalf: 8 })
    world.rotate()
    await world.clock.advance(A_WHILE_MS)
    expect([world.sent.length, new Set(world.sent).size]).toEqual([10, 2])
    expect(world.node.identity.psk_issued_at).toBe(issued(8))
  })

  test('takes a pair that is in use after a try without a known end as the own one, and begins with a fresh pair', async () => {
    const stored = { publicKey: 'next public', privateKey: 'next private' }
    const world = rotating({ answers: [inUse()], ownHalf: 7, stored })
    resumeRotation(world.deps, world.node)
    await world.clock.advance(1_500)
    expect(world.node.identity).toMatchObject({ private_key: 'next private', psk_issued_at: issued(7) })
    expect(world.steps).toContain('device after 1010 ms')
    await world.clock.advance(A_WHILE_MS)
    expect([world.sent.length, world.sent[0], world.sent[1] === 'next public']).toEqual([2, 'next public', false])
    expect([world.node.identity.private_key, world.count('errors')]).toEqual(['next private', 0])
  })

  test.each([
    ['newer', 7, 'next private', issued(7), 0],
    ['equal', 5, 'own', issued(5), 0],
    ['older: an operator has to request the rotation again', 3, 'own', issued(5), 1],
  ])(
    'whose earlier try has no known end is decided by the own half of the next epoch: %s',
    async (_, ownHalf, privateKey, half, undone) => {
      const stored = { publicKey: 'next public', privateKey: 'next private' }
      const world = rotating({ answers: [none()], ownHalf, stored })
      resumeRotation(world.deps, world.node)
      await world.clock.advance(A_WHILE_MS)
      expect(world.node.identity).toMatchObject({ private_key: privateKey, psk_issued_at: half })
      expect([world.node.nextKey, world.node.isNextInDoubt, world.sent.length]).toEqual([undefined, false, 1])
      expect([world.count('undone_rotations'), world.count('errors')]).toEqual([undone, 0])
      expect(world.steps.some((step) => step.startsWith('device'))).toBe(privateKey !== 'own')
    },
  )

  test('is decided by an older epoch that is refused as the key of the edge', async () => {
    const stored = { publicKey: 'next public', privateKey: 'next private' }
    const world = rotating({ answers: [none()], ownHalf: 3, stored })
    world.node.edges = new Map([[id(2), { own: issued(5), peer: issued(1) }]])
    resumeRotation(world.deps, world.node)
    await world.clock.advance(5_000)
    expect([world.node.nextKey, world.count('undone_rotations'), world.count('epoch_regressions')]).toEqual([
      undefined,
      1,
      1,
    ])
    expect(world.node.edges.get(id(2))?.own).toBe(issued(5))
  })

  test('is not decided by an epoch that was requested before a try without an answer', async () => {
    const stored = { publicKey: 'next public', privateKey: 'next private' }
    const world = rotating({ answers: [none()], slowHalf: 5, ownHalf: 7, stored })
    fetchEdgeKeysSoon(world.deps, world.node)
    resumeRotation(world.deps, world.node)
    await world.clock.advance(100)
    expect([world.steps.includes('sent'), world.node.isNextInDoubt]).toEqual([true, true])
    await world.clock.advance(A_WHILE_MS)
    expect(world.node.identity).toMatchObject({ private_key: 'next private', psk_issued_at: issued(7) })
  })

  test('keeps both pairs in doubt without a peer, and over a restart', async () => {
    const stored = { publicKey: 'next public', privateKey: 'next private' }
    const world = rotating({ answers: [none()], stored, size: 1 })
    resumeRotation(world.deps, world.node)
    await world.clock.advance(A_WHILE_MS)
    expect([world.node.identity.private_key, world.node.nextKey, world.node.isNextInDoubt]).toEqual([
      'own',
      stored,
      true,
    ])
    const later = rotating({ answers: [], ownHalf: 7, stored, isInDoubt: true })
    fetchEdgeKeysSoon(later.deps, later.node)
    await later.clock.advance(A_WHILE_MS)
    expect([later.node.identity.private_key, later.sent]).toEqual(['next private', []])
  })

  test('asks again while no peer decides', async () => {
    const stored = { publicKey: 'next public', privateKey: 'next private' }
    const world = rotating({ answers: [none(), none()], stored })
    resumeRotation(world.deps, world.node)
    await world.clock.advance(2_000)
    expect([world.sent, world.node.nextKey]).toEqual([['next public', 'next public'], stored])
  })

  test('is not decided by an epoch that was fetched while a try has no answer', async () => {
    const stored = { publicKey: 'next public', privateKey: 'next private' }
    const world = rotating({ answers: [], ownHalf: 7, stored })
    fetchEdgeKeysSoon(world.deps, world.node)
    await world.clock.advance(500)
    expect(world.node.identity).toMatchObject({ private_key: 'own', psk_issued_at: issued(5) })
    expect([world.node.edges?.get(id(2))?.own, world.node.nextKey]).toEqual([issued(7), stored])
  })

  test('in doubt is not decided by an epoch from before another try, which may have succeeded', async () => {
    const stored = { publicKey: 'next public', privateKey: 'next private' }
    const world = rotating({ answers: [...unanswered, done(8)], ownHalf: 5, stored, isInDoubt: true })
    resumeRotation(world.deps, world.node)
    await world.clock.advance(100)
    fetchEdgeKeysSoon(world.deps, world.node)
    await world.clock.advance(300)
    expect([world.steps.includes('fetched'), world.node.nextKey]).toEqual([true, stored])
    await world.clock.advance(A_WHILE_MS)
    expect(world.node.identity).toMatchObject({ private_key: 'next private', psk_issued_at: issued(8) })
  })

  test('in doubt is decided by a newer half in the pulled state, and by no other', async () => {
    const stored = { publicKey: 'next public', privateKey: 'next private' }
    const states = [5, 6].map((half) =>
      pulled(
        { self: { name: 'n', mesh_address: '100.64.0.1', mesh_cidr: '100.64.0.0/10', psk_issued_at: issued(half) } },
        `"${half}"`,
      ),
    )
    const world = agentWorld({ wire: { pull: async () => states.shift() } })
    worlds.push(world)
    const [node] = world.nodes
    if (node === undefined) throw new Error('no node')
    node.identity = { ...node.identity, private_key: 'own', psk_issued_at: issued(5) }
    Object.assign(node, { nextKey: stored, isNextInDoubt: true })
    pullSoon(world.deps, node, 0)
    await world.clock.advance(20)
    expect([node.identity.private_key, node.nextKey]).toEqual(['own', stored])
    pullSoon(world.deps, node, 0)
    await world.clock.advance(20)
    expect([node.identity.private_key, node.identity.psk_issued_at, node.nextKey]).toEqual([
      'next private',
      issued(6),
      undefined,
    ])
  })

  test('ends when the server refuses the secret key', async () => {
    const world = rotating({ answers: [refusal(401, 'nsk_revoked'), done(8)] })
    world.rotate()
    await world.clock.advance(A_WHILE_MS)
    expect([world.sent.length, world.node.isRotating, world.node.identity.private_key]).toEqual([1, false, 'own'])
  })

  test('learns a newer own half without a pair: an earlier run had made the rotation', async () => {
    const world = rotating({ answers: [], ownHalf: 9 })
    fetchEdgeKeysSoon(world.deps, world.node)
    await world.clock.advance(500)
    expect([world.node.identity.psk_issued_at, world.node.identity.private_key, world.steps]).toEqual([
      issued(9),
      'own',
      ['fetched', 'saved'],
    ])
  })
})
