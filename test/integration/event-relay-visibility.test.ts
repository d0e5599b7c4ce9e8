import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { visibilityChanged, visibilitySettingChanged } from '../../src/server/policies/visibility-changes.ts'
import type { Change } from '../../src/server/ports/unit-of-work.ts'
import { peersChanged, peersChangedWhole } from '../../src/server/sql/state-revisions.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'
import { unfenced, type LeaderParts } from '../support/datastores/leading.ts'
import { leadRelay } from '../support/events/relay-with-leader.ts'
import { HOME, idOf, relayWorld, seedNodes, type RelayWorld } from '../support/events/relay-world.ts'
import { accepts, isolates, visibilityRows } from '../support/fleet/visibility-rows.ts'

const NOW = Date.parse('2026-03-10T08:00:00.000Z')
/** A and B see each other, C and D see each other, and the others see nobody. */
const [A, B, C, D] = [idOf(0xa), idOf(0xb), idOf(0xc), idOf(0xd)]
const LONERS = Array.from({ length: 8 }, (_, index) => idOf(0x100 + index))
const ALL = [A, B, C, D, ...LONERS]
const POLICY = [1, 2].map((group) => ({ id: idOf(0x900 + group), group }))
const SHUT = idOf(0x910)

const moved = (nodeId: string, endpoint: string) => ['peer_endpoint_changed', { node_id: nodeId, endpoint }] as const
const hint = (...peers: readonly unknown[]) => ['node_state_updated', { reason: 'changed', blocks: ['peers'], peers }]
const RESYNC = ['node_state_updated', { reason: 'resync', blocks: ['peers'], peers: [] }]

describe.each(STORES)('hints with peer visibility on the $name store', (store) => {
  describe.skipIf(store.missing)('with a leader', () => {
    const inUse = useDatastore(store)
    let parts: LeaderParts
    let world: RelayWorld
    let rows: ReturnType<typeof visibilityRows>

    const db = () => inUse.current().pool('interactive')
    const run = <T>(work: (change: Change) => Promise<T>) =>
      parts.unitOfWork.run({ pool: 'interactive', correlationId: 'x' }, work)
    const show = (peer_visibility: 'all' | 'reachable') =>
      run(async (change) => {
        await change.db.updateTable('domains').set({ peer_visibility }).where('id', '=', HOME).execute()
        await visibilitySettingChanged(change, HOME)
      })
    const closed = (group: number) => [
      isolates('egress'),
      isolates('ingress'),
      accepts('egress', [group]),
      accepts('ingress', [group]),
    ]

    beforeEach(async () => {
      ;({ parts, world } = await leadRelay({ datastore: inUse.current(), nowMs: NOW, nodes: [] }))
      rows = visibilityRows({ ids: parts.ids, change: run })
      await seedNodes(
        inUse.current(),
        ALL.map((id) => ({ id })),
      )
      for (const [index, pair] of [
        [A, B],
        [C, D],
      ].entries()) {
        const { id = '', group = 0 } = POLICY[index] ?? {}
        await rows.policy(HOME, { id, rules: closed(group), nodeIds: pair })
        for (const node of pair) await rows.place(HOME, node, { groups: [group], policyIds: [id] })
      }
      await rows.policy(HOME, { id: SHUT, rules: [isolates('egress'), isolates('ingress')], nodeIds: LONERS })
      await show('reachable')
      await settle()
      return () => parts.feed.stop()
    })

    /** Lets everything be sent that is due, a second later. */
    async function settle(): Promise<void> {
      parts.clock.nowMs += 1_000
      await world.settle()
    }

    /** What each node receives of what happens, by the nodes that receive something. */
    async function receivedOf(happening: () => Promise<unknown>): Promise<Readonly<Record<string, unknown>>> {
      const before = new Map(ALL.map((id) => [id, world.received(id).length]))
      await happening()
      await settle()
      const news = ALL.map((id) => [id, world.received(id).slice(before.get(id))] as const)
      return Object.fromEntries(news.filter(([, events]) => events.length > 0))
    }

    const left = async () => {
      const { rows: found } = await sql<{ n: number }>`
        select (select count(*) from peer_hints) + (select count(*) from pending_peers)
          + (select count(*) from visibility_changes) as n`.execute(db())
      return Number(found[0]?.n)
    }

    test('all nodes are told to pull when the setting changes, either way', async () => {
      for (const id of ALL) expect(world.received(id).at(-1)).toEqual(RESYNC)
      expect(await receivedOf(() => show('all'))).toEqual(Object.fromEntries(ALL.map((id) => [id, [RESYNC]])))
      const moves = await receivedOf(() => world.emit(moved(A, '198.51.100.1:1')))
      expect(Object.keys(moves)).toEqual(ALL.filter((id) => id !== A))
    })

    test('a change of a peer goes to the nodes that see it, and to nobody else', async () => {
      const change = { node_id: A, changes: ['endpoint_changed'], endpoint: '198.51.100.1:1' }
      const lanes = () =>
        db()
          .selectFrom('node_lanes')
          .selectAll()
          .where('node_id', 'in', [C, ...LONERS])
          .execute()
      const before = await lanes()
      expect(await receivedOf(() => world.emit(moved(A, '198.51.100.1:1')))).toEqual({ [B]: [hint(change)] })
      // Not a row of the others was written.
      expect(await lanes()).toEqual(before)
      await settle()
      parts.clock.nowMs += 2_000
      await world.emit(moved(C, '198.51.100.1:3'))
      await settle()
      parts.clock.nowMs += 2_000
      await settle()
      await world.jobs.hints.run(unfenced(parts))
      expect(await left()).toBe(0)
    })

    test('changes of several peers are merged for each viewer, from those that it sees', async () => {
      const got = await receivedOf(() =>
        world.emit(moved(A, '1:1'), moved(C, '1:2'), moved(A, '1:3'), moved(LONERS[0] ?? '', '1:4')),
      )
      const changed = (node_id: string, endpoint: string) => hint({ node_id, changes: ['endpoint_changed'], endpoint })
      expect(got).toEqual({ [B]: [changed(A, '1:3')], [D]: [changed(C, '1:2')] })
    })

    test('a change that concerns many nodes reaches these alone', async () => {
      // All but the loners see A: more than a quarter of all.
      await rows.place(HOME, C, { groups: [1], policyIds: [POLICY[0]?.id ?? ''] })
      await rows.place(HOME, D, { groups: [1], policyIds: [POLICY[0]?.id ?? ''] })
      await settle()
      await settle()
      const got = await receivedOf(() => world.emit(moved(A, '1:1')))
      expect(Object.keys(got)).toEqual([B, C, D])
      expect(await receivedOf(() => world.emit(moved(LONERS[1] ?? '', '1:2')))).toEqual({})
      parts.clock.nowMs += 2_000
      await settle()
      expect(await left()).toBe(0)
    })

    test('a node that leaves is gone for the nodes that saw it', async () => {
      const former = { mesh_address: '100.64.0.1', groups: [1], policy_ids: [POLICY[0]?.id ?? ''] }
      const got = await receivedOf(async () => {
        await run(async ({ db: tx }) => {
          await peersChangedWhole(tx, HOME)
          await tx.deleteFrom('nodes').where('id', '=', A).execute()
        })
        await world.emit(['peer_deregistered', { node_id: A, name: 'a', former }])
      })
      expect(got).toEqual({ [B]: [hint({ node_id: A, changes: ['deregistered'] })] })
    })

    test('of which it is not known who saw it is gone for all', async () => {
      const got = await receivedOf(async () => {
        await run(async ({ db: tx }) => {
          await peersChangedWhole(tx, HOME)
          await tx.deleteFrom('nodes').where('id', '=', A).execute()
        })
        await world.emit(['peer_deregistered', { node_id: A, name: 'a' }])
      })
      expect(Object.keys(got)).toEqual(ALL.filter((id) => id !== A))
    })

    test('a change of rules tells each node that sees others than before', async () => {
      const got = await receivedOf(() =>
        rows.policy(HOME, { id: POLICY[0]?.id ?? '', rules: closed(2), nodeIds: [A, B] }),
      )
      expect(got).toEqual({ [A]: [RESYNC], [B]: [RESYNC] })
      // Written once more it changes nothing for anybody.
      const again = await receivedOf(() =>
        rows.policy(HOME, { id: POLICY[0]?.id ?? '', rules: closed(2), nodeIds: [A, B] }),
      )
      expect(again).toEqual({})
    })

    test('a node with other groups tells itself and the nodes that gain or lose it', async () => {
      const got = await receivedOf(() => rows.place(HOME, B, { groups: [2], policyIds: [POLICY[1]?.id ?? ''] }))
      expect(got).toEqual({ [A]: [RESYNC], [B]: [RESYNC], [C]: [RESYNC], [D]: [RESYNC] })
    })

    test('members of a group are named to the nodes that see them', async () => {
      const got = await receivedOf(() =>
        world.emit(['policy_group_changed', { group: 7, added: [A, C, LONERS[0] ?? ''], removed: [B] }]),
      )
      const members = (added: readonly string[], removed: readonly string[]) => [
        'node_state_updated',
        { reason: 'changed', blocks: ['peers'], peers: [], groups: [{ group: 7, added, removed }] },
      ]
      // Those that a lane shares may name the node itself.
      const pair = [members([A], [B])]
      expect(got).toEqual({ [A]: pair, [B]: pair, [C]: [members([C], [])], [D]: [members([C], [])] })
    })

    test('a new leader tells everybody where it cannot know who saw whom before', async () => {
      await rows.place(HOME, B, { groups: [2], policyIds: [POLICY[1]?.id ?? ''] })
      const other = relayWorld({ parts, leading: unfenced(parts), bus: world.bus, signer: world.signer })
      const before = new Map(ALL.map((id) => [id, world.received(id).length]))
      parts.clock.nowMs += 1_000
      await other.settle()
      for (const id of ALL) expect(world.received(id).slice(before.get(id))).toEqual([RESYNC])
      // From then on it knows.
      const got = await receivedOf(async () => {
        await rows.place(HOME, B, { groups: [1], policyIds: [POLICY[0]?.id ?? ''] })
        parts.clock.nowMs += 1_000
        await other.settle()
      })
      expect(Object.keys(got)).toEqual([A, B, C, D])
    })

    test('a change that was stored before the leader first looked is not lost', async () => {
      const other = relayWorld({ parts, leading: unfenced(parts), bus: world.bus, signer: world.signer })
      // Its outbox row is not taken yet when the new leader reads who sees whom for another reason.
      await run(async (change) => {
        await visibilityChanged(change, HOME, [B])
        await peersChanged(change.db, HOME, [B])
        await change.db
          .updateTable('nodes')
          .set({ policy_groups: [2] })
          .where('id', '=', B)
          .execute()
      })
      await sql`insert into peer_hints (seq, domain_id, node_id, peer, is_narrow)
        values (0, ${HOME}, ${C}, ${JSON.stringify({ node_id: C, changes: ['endpoint_changed'] })}, null)`.execute(db())
      parts.clock.nowMs += 1_000
      await other.jobs.hints.run(unfenced(parts))
      const before = new Map(ALL.map((id) => [id, world.received(id).length]))
      parts.clock.nowMs += 1_000
      await other.settle()
      expect(world.received(A).slice(before.get(A))).toEqual([RESYNC])
    })
  })
})
