import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { STORES, useDatastore } from '../support/datastores/stores.ts'
import { leadRelay } from '../support/events/relay-with-leader.ts'
import type { LeaderParts } from '../support/datastores/leading.ts'
import { AWAY, HOME, idOf, relayWorld, seedNodes, type RelayWorld } from '../support/events/relay-world.ts'

const NOW = Date.parse('2026-03-10T08:00:00.000Z')
const [A, B, C] = [idOf(0xa), idOf(0xb), idOf(0xc)]
const FOREIGN = idOf(0xf)

const moved = (nodeId: string, endpoint: string) =>
  ['peer_endpoint_changed', { node_id: nodeId, endpoint, fallback_endpoint: '' }] as const
const assigned = (nodeId: string, at = '1') => ['peer_psk_assigned', { node_id: nodeId, psk_issued_at: at }] as const
const peersHint = (...peers: readonly unknown[]) => [
  'node_state_updated',
  { reason: 'changed', blocks: ['peers'], peers },
]
const RESYNC = ['node_state_updated', { reason: 'resync', blocks: ['peers'], peers: [] }]

describe.each(STORES)('hints on the $name store', (store) => {
  describe.skipIf(store.missing)('with a leader', () => {
    const inUse = useDatastore(store)
    let parts: LeaderParts
    let world: RelayWorld

    beforeEach(async () => {
      ;({ parts, world } = await leadRelay({ datastore: inUse.current(), nowMs: NOW, nodes: [] }))
      return () => parts.feed.stop()
    })

    const seed = (...ids: readonly string[]) =>
      seedNodes(
        inUse.current(),
        ids.map((id) => ({ id })),
      )
    const db = () => inUse.current().pool('interactive')
    const countOf = async (table: 'outgoing_events' | 'peer_hints' | 'node_hints') =>
      Number((await db().selectFrom(table).select(db().fn.countAll().as('n')).executeTakeFirstOrThrow()).n)
    const lanes = async () =>
      (
        await db().selectFrom('node_lanes').select(['node_id', 'last_seq', 'hinted_seq']).orderBy('node_id').execute()
      ).map(({ node_id, last_seq, hinted_seq }) => [node_id, Number(last_seq), Number(hinted_seq)])

    test('of a peer go to the other nodes of its Domain at once, with the members of the outbox row', async () => {
      await seed(A, B, C)
      await seedNodes(inUse.current(), [{ id: FOREIGN, domainId: AWAY }])
      await world.emit(moved(A, '198.51.100.1:51820'))
      await world.settle()
      const hint = peersHint({
        node_id: A,
        changes: ['endpoint_changed'],
        endpoint: '198.51.100.1:51820',
        fallback_endpoint: '',
      })
      expect([A, B, C, FOREIGN].map(world.received)).toEqual([[], [hint], [hint], []])
      expect(await countOf('peer_hints')).toBe(0)
      expect(await lanes()).toEqual([
        [A, 0, 1],
        [B, 1, 1],
        [C, 1, 1],
        [FOREIGN, 0, 0],
      ])
    })

    test('that follow within a second are merged into one after that second', async () => {
      await seed(A, B, C)
      await world.emit(moved(A, '198.51.100.1:1'))
      await world.settle()
      parts.clock.nowMs = NOW + 400
      await world.emit(moved(A, '198.51.100.1:2'), assigned(B, '7'), ['rotate_keys', { node_id: C }])
      await world.settle()
      await world.emit(moved(A, ''), assigned(A, '8'))
      parts.clock.nowMs = NOW + 999
      await world.settle()
      expect(world.received(C)).toHaveLength(1)
      parts.clock.nowMs = NOW + 1_000
      await world.settle()
      const ofA = {
        node_id: A,
        changes: ['endpoint_changed', 'psk_assigned'],
        endpoint: '',
        fallback_endpoint: '',
        psk_issued_at: '8',
      }
      const ofB = { node_id: B, changes: ['psk_assigned'], psk_issued_at: '7' }
      expect(world.received(C).slice(1)).toEqual([
        ['node_state_updated', { reason: 'changed', blocks: ['keys', 'peers'], peers: [ofA, ofB] }],
      ])
      expect(world.received(B).slice(1)).toEqual([peersHint(ofA)])
      // A was not told of anything before: nothing kept it waiting, and its own changes are not news to it.
      expect(world.received(A)).toEqual([peersHint(ofB)])
      parts.clock.nowMs = NOW + 2_400
      await world.settle()
      expect(world.received(A)).toHaveLength(1)
      expect(await countOf('peer_hints')).toBe(0)
    })

    test('of a relay carry what is newest, and name none where there is none any more', async () => {
      await seed(A, B)
      const relayed = (fallback?: string) =>
        [
          'peer_relay_changed',
          { node_id: A, endpoint: '', ...(fallback !== undefined && { fallback_endpoint: fallback }) },
        ] as const
      await world.emit(relayed('203.0.113.1:51821'), assigned(A, '8'), relayed())
      await world.settle()
      parts.clock.nowMs += 1_000
      await world.emit(relayed('203.0.113.1:51821'), assigned(A, '9'))
      await world.settle()
      expect(world.received(B)).toEqual([
        peersHint({ node_id: A, changes: ['psk_assigned', 'endpoint_changed'], endpoint: '', psk_issued_at: '8' }),
        peersHint({
          node_id: A,
          changes: ['endpoint_changed', 'psk_assigned'],
          endpoint: '',
          fallback_endpoint: '203.0.113.1:51821',
          psk_issued_at: '9',
        }),
      ])
    })

    test('of all relays of a Domain are a resync for each of its nodes alone', async () => {
      await seed(A, B)
      await seedNodes(inUse.current(), [{ id: FOREIGN, domainId: AWAY }])
      await world.emit(['domain_relays_changed', {}], assigned(A), ['domain_relays_changed', {}])
      await world.settle()
      expect([A, B, FOREIGN].map(world.received)).toEqual([[RESYNC], [RESYNC], []])
      expect(await countOf('peer_hints')).toBe(0)
    })

    test('list the changes of a peer in the order of their last occurrence, and drop the facts of a deregistered one', async () => {
      await seed(A, B)
      await world.emit(moved(A, '198.51.100.1:1'))
      await world.settle()
      await world.emit(
        assigned(A, '7'),
        moved(A, '198.51.100.1:2'),
        ['peer_deregistered', { node_id: A, name: 'a' }],
        ['peer_registered', { node_id: A, name: 'a', mesh_address: '100.64.0.9', public_key: 'aw==' }],
        assigned(A, '9'),
      )
      parts.clock.nowMs = NOW + 1_000
      await world.settle()
      expect(world.received(B).slice(1)).toEqual([
        peersHint({
          node_id: A,
          changes: ['endpoint_changed', 'deregistered', 'registered', 'psk_assigned'],
          name: 'a',
          mesh_address: '100.64.0.9',
          public_key: 'aw==',
          psk_issued_at: '9',
        }),
      ])
    })

    test('of a rename give the newest name to the peers, and ask the node itself to pull', async () => {
      await seed(A, B)
      await seedNodes(inUse.current(), [{ id: FOREIGN, domainId: AWAY }])
      const renamed = (name: string) =>
        [
          ['peer_renamed', { node_id: A, name }],
          ['node_renamed', { node_id: A }],
        ] as const
      await world.emit(...renamed('one'), ...renamed('two'))
      await world.settle()
      expect([A, B, FOREIGN].map(world.received)).toEqual([
        [['node_state_updated', { reason: 'changed', blocks: ['self'], peers: [] }]],
        [peersHint({ node_id: A, changes: ['renamed'], name: 'two' })],
        [],
      ])
    })

    test('of a deregistration name the peer by its id alone', async () => {
      await seed(A, B)
      await world.emit(['peer_deregistered', { node_id: A, name: 'a' }])
      await world.settle()
      expect(world.received(B)).toEqual([peersHint({ node_id: A, changes: ['deregistered'] })])
    })

    test.each([
      [64, 'names 64 peers'],
      [65, 'says resync where there are more'],
    ])('of %i peers: %s', async (count) => {
      const peers = Array.from({ length: count }, (_, index) => idOf(0x1000 + index))
      await seed(A, ...peers)
      await world.emit(...peers.map((id) => assigned(id)))
      await world.settle()
      const [hint] = world.received(A)
      if (count === 64)
        expect(hint).toEqual(
          peersHint(...peers.map((node_id) => ({ node_id, changes: ['psk_assigned'], psk_issued_at: '1' }))),
        )
      else expect(hint).toEqual(RESYNC)
      // To one of the 65 it is 64 others.
      const [ofPeer] = world.received(peers[0] ?? '')
      expect(ofPeer).toMatchObject(['node_state_updated', { reason: 'changed' }])
    })

    test('are a resync for a node with more changes than are read', async () => {
      await seed(A, B)
      await sql`insert into outbox (event, domain_id, aggregate, payload, correlation_id, occurred_at)
        select 'peer_psk_assigned', ${HOME}, 'node:x', jsonb_build_object('node_id', ${A}::text, 'psk_issued_at', n::text), 'x', now()
        from generate_series(1, 2001) as n`.execute(db())
      await world.settle()
      expect(world.received(B)).toEqual([RESYNC])
      expect(await lanes()).toEqual([
        // That all of it was its own doing is not read either.
        [A, 1, 2001],
        [B, 1, 2001],
      ])
    })

    test('of one Domain are limited to a thousand per second, the longest waiting first', async () => {
      const many = Array.from({ length: 2_300 }, (_, index) => idOf(0x1000 + index))
      await seed(A, ...many)
      await world.emit(assigned(A))
      await world.settle()
      const tally = async () =>
        (
          await sql<{ events: number; nodes: number }>`
            select last_seq::integer as events, count(*)::integer as nodes from node_lanes
            where node_id <> ${A} group by last_seq order by last_seq`.execute(db())
        ).rows.map(({ events, nodes }) => [events, nodes])
      const first = [
        [0, 1_300],
        [1, 1_000],
      ]
      expect(await tally()).toEqual(first)
      parts.clock.nowMs = NOW + 999
      await world.settle()
      expect(await tally()).toEqual(first)
      parts.clock.nowMs = NOW + 1_000
      await world.settle()
      await world.emit(assigned(A, '2'))
      parts.clock.nowMs = NOW + 2_000
      await world.settle()
      expect(await tally()).toEqual([
        [1, 1_600],
        [2, 700],
      ])
      expect(world.bus.stored).toHaveLength(3_000)
    }, 180_000)

    test('of all Domains together are limited too, and shared between them by who needs more', async () => {
      const of = (first: number, count: number) => Array.from({ length: count }, (_, index) => idOf(first + index))
      await seed(A, ...of(0x1000, 20))
      await seedNodes(
        inUse.current(),
        [FOREIGN, ...of(0x2000, 3)].map((id) => ({ id, domainId: AWAY })),
      )
      world = relayWorld({ parts, leading: await parts.lead(), hintsPerSecond: 10 })
      const received = async () => {
        const { rows } = await sql<{ domain_id: string; hints: number }>`
          select domain_id, sum(last_seq)::integer as hints from node_lanes group by domain_id`.execute(db())
        return Object.fromEntries(rows.map(({ domain_id, hints }) => [domain_id === HOME ? 'home' : 'away', hints]))
      }
      await world.emit(assigned(A))
      await world.emit([...assigned(FOREIGN), AWAY])
      await world.settle()
      expect(await received()).toEqual({ home: 7, away: 3 })
      parts.clock.nowMs = NOW + 999
      await world.settle()
      expect(await received()).toEqual({ home: 7, away: 3 })
      parts.clock.nowMs = NOW + 1_000
      await world.settle()
      expect(await received()).toEqual({ home: 17, away: 3 })
      parts.clock.nowMs = NOW + 2_000
      await world.emit([...assigned(FOREIGN, '2'), AWAY])
      await world.settle()
      expect(await received()).toEqual({ home: 20, away: 6 })
    })

    test('wait while the previous one is not published, and are merged meanwhile', async () => {
      await seed(A, B)
      world.bus.isAway = true
      await world.emit(moved(A, '198.51.100.1:1'))
      await expect(world.settle()).rejects.toThrow('cannot be reached')
      for (let second = 1; second <= 3; second += 1) {
        parts.clock.nowMs = NOW + second * 1_000
        await world.emit(moved(A, `198.51.100.1:${second + 1}`))
        await expect(world.settle()).rejects.toThrow('cannot be reached')
      }
      expect(await countOf('outgoing_events')).toBe(1)
      world.bus.isAway = false
      await world.settle()
      await world.settle()
      expect(world.received(B).map(([, payload]) => payload)).toMatchObject([
        { peers: [{ endpoint: '198.51.100.1:1' }] },
        { peers: [{ endpoint: '198.51.100.1:4' }] },
      ])
    })

    test('start after the registration of a node and end with its deregistration', async () => {
      await seed(A)
      await world.emit(
        assigned(A),
        ['peer_registered', { node_id: B, name: 'b', mesh_address: '100.64.0.9', public_key: 'aw==' }],
        assigned(B),
      )
      await world.settle()
      expect(world.received(A)).toEqual([
        peersHint({
          node_id: B,
          changes: ['registered', 'psk_assigned'],
          name: 'b',
          mesh_address: '100.64.0.9',
          public_key: 'aw==',
          psk_issued_at: '1',
        }),
      ])
      expect(world.received(B)).toEqual([])
      parts.clock.nowMs = NOW + 1_000
      await world.emit(assigned(A, '2'))
      await world.relay()
      await world.jobs.hints.run(await parts.lead())
      await world.emit(['rotate_keys', { node_id: B }], ['peer_deregistered', { node_id: B, name: 'b' }])
      world = relayWorld({ parts, leading: await parts.lead() })
      await world.settle()
      expect(world.bus.stored.filter(({ nodeId }) => nodeId === B)).toEqual([])
      expect((await lanes()).map(([nodeId]) => nodeId)).toEqual([A])
      expect([await countOf('outgoing_events'), await countOf('node_hints')]).toEqual([0, 0])
    })

    test('of a node that re-enrols keep its lane and its numbers', async () => {
      await seed(A, B)
      await world.emit(assigned(A))
      await world.settle()
      parts.clock.nowMs = NOW + 1_000
      await world.emit(['peer_registered', { node_id: B, name: 'b', mesh_address: '100.64.0.9', public_key: 'aw==' }])
      await world.emit(assigned(A, '2'))
      await world.settle()
      expect(world.bus.stored.filter(({ nodeId }) => nodeId === B).map(({ nodeSeq }) => nodeSeq)).toEqual([1n, 2n])
    })
  })
})
