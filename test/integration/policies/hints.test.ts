import { beforeEach, describe, expect, test } from 'vitest'
import type { LeaderParts } from '../../support/datastores/leading.ts'
import { STORES, useDatastore } from '../../support/datastores/stores.ts'
import { HOME, idOf, seedNodes, type RelayWorld } from '../../support/events/relay-world.ts'
import { leadRelay } from '../../support/events/relay-with-leader.ts'

const NOW = Date.parse('2026-03-10T08:00:00.000Z')
const [A, B, C] = [idOf(0xa), idOf(0xb), idOf(0xc)]

const group = (number: number, added: readonly string[], removed: readonly string[] = []) =>
  ['policy_group_changed', { group: number, added, removed }] as const
const peer = (nodeId: string, groups: readonly number[]) =>
  ['peer_groups_changed', { node_id: nodeId, groups }] as const

describe.each(STORES)('hints of policies on the $name store', (store) => {
  describe.skipIf(store.missing)('with a leader', () => {
    const inUse = useDatastore(store)
    let parts: LeaderParts
    let world: RelayWorld

    beforeEach(async () => {
      ;({ parts, world } = await leadRelay({ datastore: inUse.current(), nowMs: NOW, nodes: [] }))
      await seedNodes(
        inUse.current(),
        [A, B, C].map((id) => ({ id })),
      )
      return () => parts.feed.stop()
    })

    /** What the node receives of changes that are merged into one hint. */
    async function hintOf(nodeId: string, ...events: readonly (readonly [string, unknown])[]) {
      for (const [event, payload] of events) await world.emit([event as 'policy_group_changed', payload as never, HOME])
      await world.settle()
      return world.received(nodeId)
    }

    test('list the members that joined and left a group', async () => {
      expect(await hintOf(C, group(7, [B, A]), group(3, [], [B]))).toEqual([
        [
          'node_state_updated',
          {
            reason: 'changed',
            blocks: ['peers'],
            peers: [],
            groups: [
              { group: 3, added: [], removed: [B] },
              { group: 7, added: [A, B], removed: [] },
            ],
          },
        ],
      ])
    })

    test('have all groups of a peer whose labels changed', async () => {
      expect(await hintOf(C, peer(A, [2, 5]))).toEqual([
        [
          'node_state_updated',
          {
            reason: 'changed',
            blocks: ['peers'],
            peers: [{ node_id: A, changes: ['groups_changed'], groups: [2, 5] }],
          },
        ],
      ])
      expect(world.received(A)).toEqual([])
    })

    test('say the same in whichever order a reader applies peers and groups', async () => {
      const [[, first] = [], [, second] = []] = [
        ...(await hintOf(C, group(5, [A, B]), peer(A, [1]))),
        ...(
          await ((parts.clock.nowMs += 1_000), hintOf(C, peer(A, [1, 5]), group(7, [A]), group(5, [], [A, B])))
        ).slice(1),
      ]
      expect(first).toMatchObject({
        peers: [{ node_id: A, groups: [1] }],
        groups: [{ group: 5, added: [B], removed: [] }],
      })
      expect(second).toMatchObject({
        peers: [{ node_id: A, groups: [1, 7] }],
        groups: [
          { group: 5, added: [], removed: [A, B] },
          { group: 7, added: [A], removed: [] },
        ],
      })
    })

    test('tell the last of several changes of a group', async () => {
      const [[, hint] = []] = await hintOf(C, group(5, [A, B]), group(5, [], [A]), group(5, [A]))
      expect(hint).toMatchObject({ groups: [{ group: 5, added: [A, B], removed: [] }] })
    })

    test('are a resync where more nodes joined than 64 KiB list, or none are listed', async () => {
      const many = Array.from({ length: 1_601 }, (_, index) => idOf(0x1000 + index))
      const resync = ['node_state_updated', { reason: 'resync', blocks: ['peers'], peers: [] }]
      expect(await hintOf(C, group(5, many))).toEqual([resync])
      parts.clock.nowMs += 1_000
      expect(await hintOf(C, ['policy_group_changed', { group: 6 }])).toEqual([resync, resync])
    })

    test('of own policies name the block', async () => {
      expect(await hintOf(A, ['node_policies_changed', { node_id: A }])).toEqual([
        ['node_state_updated', { reason: 'changed', blocks: ['policy'], peers: [] }],
      ])
    })
  })
})
