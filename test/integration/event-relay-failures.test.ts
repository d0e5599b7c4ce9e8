import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { readRelayLag } from '../../src/server/event-relay/lag-store.ts'
import type { Datastore } from '../../src/server/ports/datastore.ts'
import type { Leading } from '../../src/server/ports/leadership.ts'
import { Crash, crashingDatastore } from '../support/datastores/crashing-datastore.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'
import { leadRelay } from '../support/events/relay-with-leader.ts'
import { leaderParts, type LeaderParts } from '../support/datastores/leading.ts'
import { memoryBus } from '../support/events/memory-bus.ts'
import {
  HOME,
  idOf,
  listOutgoing,
  openWire,
  relayWorld,
  seedNodes,
  testSigner,
  type RelayWorld,
} from '../support/events/relay-world.ts'

const NOW = Date.parse('2026-03-10T08:00:00.000Z')
const [A, B, C] = [idOf(0xa), idOf(0xb), idOf(0xc)]

const request = (nodeId: string, execution: number, members: Readonly<Record<string, unknown>> = {}) =>
  [
    'execution_requested',
    {
      node_id: nodeId,
      execution_id: idOf(execution),
      action: 'ping',
      type: 'builtin',
      status: 'pending',
      requested_at: '2026-03-10T08:00:00.000Z',
      expires_at: '2026-03-10T08:05:00.000Z',
      ...members,
    },
  ] as const

describe.each(STORES)('failures of the event relay on the $name store', (store) => {
  describe.skipIf(store.missing)('with a leader', () => {
    const inUse = useDatastore(store)
    let parts: LeaderParts
    let leading: Leading
    let world: RelayWorld

    beforeEach(async () => {
      const nodes = [{ id: A }, { id: B }, { id: C }]
      ;({ parts, leading, world } = await leadRelay({ datastore: inUse.current(), nowMs: NOW, nodes }))
      return () => parts.feed.stop()
    })

    const db = () => inUse.current().pool('interactive')
    const order = (nodeId: string) =>
      world.bus.stored.filter((event) => event.nodeId === nodeId).map(({ nodeSeq }) => Number(nodeSeq))
    const waiting = () => listOutgoing(inUse.current())

    describe('an event that cannot be rendered', () => {
      test('blocks the later ones of its node and of no other, records the reason, and is retried each minute', async () => {
        await world.emit(request(A, 1), request(A, 2, { type: 'spell' }), request(A, 3), request(B, 4))
        await world.settle()
        expect([order(A), order(B)]).toEqual([[1], [1]])
        const reason = expect.stringContaining('builtin')
        expect(await waiting()).toEqual([
          ['a', 2, reason, false],
          ['a', 3, null, false],
        ])
        expect(world.failures).toEqual([{ id: expect.any(String), nodeId: A, reason }])
        await world.emit(request(A, 5), request(B, 6))
        parts.clock.nowMs = NOW + 59_999
        await world.settle()
        expect([order(A), order(B), world.failures.length]).toEqual([[1], [1, 2], 1])
        parts.clock.nowMs = NOW + 60_001
        await world.settle()
        expect([order(A), world.failures.length]).toEqual([[1], 2])
        await sql`update outgoing_events set payload = replace(payload, 'spell', 'hook')`.execute(db())
        parts.clock.nowMs = NOW + 120_002
        await world.settle()
        expect([order(A), await waiting()]).toEqual([[1, 2, 3, 4], []])
        expect(world.received(A)[1]).toMatchObject(['action_request', { type: 'hook' }])
      })

      test('because its stored rules are not canonical blocks its node', async () => {
        await sql`
          insert into outgoing_events (node_id, domain_id, node_seq, event_id, type, payload, occurred_at, committed_at)
          select id, ${HOME}, 1, id, 'policy_updated', '{"node_id":"' || id || '","rules":[1.0]}', now(), now()
          from unnest(${[A, B]}::uuid[]) as id`.execute(db())
        await world.settle()
        expect(await waiting()).toEqual([
          ['a', 1, 'the stored payload is not canonical JSON', false],
          ['b', 1, 'the stored payload is not canonical JSON', false],
        ])
      })
    })

    describe('an event that the stream refuses', () => {
      test('blocks the later ones of its node and of no other, until the stream accepts it', async () => {
        world.bus.refuse = ({ nodeId, nodeSeq }) => (nodeId === A && nodeSeq === 2n ? 'too large' : undefined)
        await world.emit(request(A, 1), request(A, 2), request(A, 3), request(B, 4))
        await world.settle()
        expect([order(A), order(B)]).toEqual([[1], [1]])
        expect(await waiting()).toEqual([
          ['a', 2, 'too large', true],
          ['a', 3, null, true],
        ])
        expect(world.failures).toEqual([{ id: expect.any(String), nodeId: A, reason: 'too large' }])
        const [{ wire } = { wire: '' }] = world.bus.given.filter(({ nodeSeq }) => nodeSeq === 2n)
        await world.emit(request(A, 5))
        await world.settle()
        expect(world.bus.given.filter(({ nodeId, nodeSeq }) => nodeId === A && nodeSeq > 1n)).toHaveLength(2)
        world.bus.refuse = () => undefined
        parts.clock.nowMs = NOW + 60_001
        await world.settle()
        await world.settle()
        expect([order(A), await waiting()]).toEqual([[1, 2, 3, 4], []])
        expect(world.bus.stored.find(({ nodeId, nodeSeq }) => nodeId === A && nodeSeq === 2n)?.wire).toBe(wire)
      })
    })

    test('a failing signer blocks all events and skips none', async () => {
      world.signer.isDead = true
      await world.emit(request(A, 1), request(B, 2))
      await expect(world.settle()).rejects.toThrow('the signer is dead')
      expect([world.bus.stored, world.counts.signing, world.failures]).toEqual([[], 1, []])
      await world.emit(request(A, 3))
      await expect(world.settle()).rejects.toThrow('the signer is dead')
      expect((await waiting()).map(([node, , , isSigned]) => [node, isSigned])).toEqual([
        ['a', false],
        ['b', false],
        ['a', false],
      ])
      world.signer.isDead = false
      await world.settle()
      expect([order(A), order(B), world.signer.signatures]).toEqual([[1, 2], [1], 3])
    })

    test('an event that cannot be rendered is recorded also while the signer fails', async () => {
      world.signer.isDead = true
      await world.emit(request(A, 1), request(B, 2, { type: 'spell' }))
      await expect(world.settle()).rejects.toThrow('the signer is dead')
      expect((await waiting()).map(([node, , failure]) => [node, failure === null])).toEqual([
        ['a', true],
        ['b', false],
      ])
    })

    test('an event names the new key when the key changes while it is signed', async () => {
      world.signer.changeKey()
      await world.emit(request(A, 1))
      await world.settle()
      expect(world.bus.stored.map(({ wire }) => openWire(wire, world.signer))).toMatchObject([
        { kid: 'k2', isSigned: true },
      ])
    })

    test('an unavailable stream keeps all events in order and is counted', async () => {
      world.bus.isAway = true
      await world.emit(request(A, 1), request(A, 2))
      await expect(world.settle()).rejects.toThrow('cannot be reached')
      await world.emit(request(A, 3))
      await expect(world.settle()).rejects.toThrow('cannot be reached')
      expect([world.bus.stored, world.counts.publishing]).toEqual([[], 2])
      world.bus.isAway = false
      await world.settle()
      expect([order(A), await waiting(), world.signer.signatures]).toEqual([[1, 2, 3], [], 3])
    })

    test('the backlog is counted by stage, with its age since the change and the blocked lanes', async () => {
      const lag = () => readRelayLag(db(), NOW + 5_000)
      expect(await lag()).toEqual({ rows: { hints: 0, signing: 0, publishing: 0 }, seconds: 0, blockedLanes: 0 })
      await world.emit(request(A, 1), ['rotate_keys', { node_id: B }])
      expect(await lag()).toMatchObject({ rows: { hints: 0, signing: 0, publishing: 0 }, seconds: 5 })
      await world.relay()
      expect(await lag()).toMatchObject({ rows: { hints: 1, signing: 1, publishing: 0 }, seconds: 5 })
      await world.jobs.signing.run(leading)
      expect(await lag()).toMatchObject({ rows: { hints: 1, signing: 0, publishing: 1 }, seconds: 5 })
      world.bus.refuse = () => 'too large'
      await world.jobs.publishing.run(leading)
      expect(await lag()).toMatchObject({ rows: { publishing: 1 }, blockedLanes: 1 })
    })

    test('an unknown literal blocks the rows after it, and those before it are delivered', async () => {
      await world.emit(request(A, 1))
      await sql`insert into outbox (event, domain_id, aggregate, payload, correlation_id, occurred_at)
        values ('of_the_future', ${HOME}, 'thing:1', '{}', 'x', now())`.execute(db())
      await world.emit(request(A, 2))
      await expect(world.relay()).rejects.toThrow('the outbox event of_the_future has no audience')
      await world.jobs.signing.run(leading)
      await world.jobs.publishing.run(leading)
      expect([order(A), world.poison.at(-1)?.seq]).toEqual([[1], 2n])
    })

    test('an event that names no node blocks the relay', async () => {
      await world.emit(['rotate_keys', {}])
      await expect(world.relay()).rejects.toThrow('node_id')
      expect(world.poison).not.toEqual([])
    })

    test('a leader whose term has ended numbers, signs and publishes nothing', async () => {
      await world.emit(request(A, 1), ['peer_psk_assigned', { node_id: A, psk_issued_at: '1' }])
      await world.jobs.numbering.run(leading)
      const present = await parts.lead()
      const next = relayWorld({ parts, leading: present, bus: world.bus, signer: world.signer })
      await expect(world.jobs.relay.run(leading)).rejects.toThrow('term 1 has ended')
      await next.relay()
      await expect(world.jobs.hints.run(leading)).rejects.toThrow('term 1 has ended')
      await next.jobs.hints.run(present)
      await expect(world.jobs.signing.run(leading)).rejects.toThrow('term 1 has ended')
      expect((await waiting()).map((row) => row[3])).toEqual([false, false, false])
      await next.jobs.signing.run(present)
      await expect(world.jobs.publishing.run(leading)).rejects.toThrow('term 1 has ended')
      expect(world.bus.given).toEqual([])
      await next.jobs.publishing.run(present)
      expect([order(A), order(B), order(C)]).toEqual([[1], [1], [1]])
    })

    test('whichever step the process crashes after, each node gets every event once, contiguous and in order', async () => {
      const signer = testSigner()
      const bus = memoryBus()
      /** One process, from its start until nothing is left to do or until it ends. */
      const live = async (datastore: Datastore): Promise<void> => {
        const own = await leaderParts(datastore, NOW, inUse.current())
        try {
          const term = await own.lead()
          await relayWorld({ parts: own, leading: term, bus, signer, datastore }).settle()
        } finally {
          own.feed.stop()
        }
      }
      let stepsLeft = 0
      for (let isCrashed = true; isCrashed; stepsLeft += 1) {
        await emptyTables(inUse.current())
        bus.stored.splice(0)
        await seedNodes(inUse.current(), [{ id: A }, { id: B }])
        await world.emit(
          request(A, 1),
          ['peer_psk_assigned', { node_id: A, psk_issued_at: '1' }],
          ['rotate_keys', { node_id: A }],
          request(B, 2),
          request(A, 3),
        )
        const outcome = await live(crashingDatastore(inUse.current(), stepsLeft)).catch((error: unknown) => error)
        isCrashed = outcome instanceof Crash
        if (!isCrashed) expect(outcome).toBeUndefined()
        await live(inUse.current())
        const told = [A, B].map((nodeId) =>
          bus.stored.filter((event) => event.nodeId === nodeId).map(({ nodeSeq, type }) => `${nodeSeq} ${type}`),
        )
        expect({ stepsLeft, told, left: await waiting() }).toEqual({
          stepsLeft,
          told: [
            ['1 action_request', '2 action_request', '3 node_state_updated'],
            ['1 action_request', '2 node_state_updated'],
          ],
          left: [],
        })
        expect(bus.stored.every(({ wire }) => openWire(wire, signer).isSigned)).toBe(true)
      }
      expect(stepsLeft).toBeGreaterThan(30)
    }, 240_000)
  })
})
