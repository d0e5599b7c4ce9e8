import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { createEventLog } from '../../src/server/adapters/event-log/event-log.ts'
import type { Datastore } from '../../src/server/ports/datastore.ts'
import { EVENT_BYTES_MAX } from '../../src/server/ports/event-bus.ts'
import type { Leading } from '../../src/server/ports/leadership.ts'
import { Crash, crashingDatastore } from '../support/datastores/crashing-datastore.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'
import { leadRelay } from '../support/events/relay-with-leader.ts'
import { leaderParts, type LeaderParts } from '../support/datastores/leading.ts'
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
const clock = { now: () => NOW }

const rotation = (nodeId: string) => ['rotate_keys', { node_id: nodeId }] as const
const assignment = (nodeId: string, epoch: number) =>
  ['peer_psk_assigned', { node_id: nodeId, psk_issued_at: String(epoch) }] as const

const logOf = (datastore: Datastore) => createEventLog({ datastore, clock, onFailure: () => undefined })

describe.each(STORES)('events that are published in the transaction that signs them, on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    const inUse = useDatastore(store)
    let parts: LeaderParts
    let leading: Leading
    let world: RelayWorld

    beforeEach(async () => {
      const datastore = inUse.current()
      const nodes = [{ id: A }, { id: B }, { id: C }]
      ;({ parts, leading, world } = await leadRelay({ datastore, nowMs: NOW, nodes, stream: logOf(datastore) }))
      return () => parts.feed.stop()
    })

    const db = () => inUse.current().pool('interactive')
    /** What the stream has of a node, by number. */
    const told = async (nodeId: string) => {
      const rows = await db().selectFrom('event_log').selectAll().where('node_id', '=', nodeId).orderBy('seq').execute()
      return rows.map(({ node_seq, type, wire }) => {
        const { isSigned } = openWire(wire, world.signer)
        return `${node_seq} ${type}${isSigned ? '' : ' forged'}`
      })
    }
    const waiting = () => listOutgoing(inUse.current())

    /** Puts an event with a text of so many characters on its way. */
    async function addLong(nodeId: string, nodeSeq: number, chars: number): Promise<void> {
      await sql`
        insert into outgoing_events (node_id, domain_id, node_seq, event_id, type, payload, occurred_at, committed_at)
        values (${nodeId}, ${HOME}, ${nodeSeq}, gen_random_uuid(), 'policy_updated',
          '{"node_id":"' || ${nodeId}::text || '","rules":["' || repeat('x', ${chars}::integer) || '"]}', now(), now())`.execute(
        db(),
      )
    }

    test('are counted and leave no outgoing rows', async () => {
      await world.emit(rotation(A), assignment(B, 1))
      await world.relay()
      await world.jobs.hints.run(leading)
      expect(await world.jobs.signing.run(leading)).toBe(false)
      expect(await Promise.all([A, B, C].map(told))).toEqual([['1 node_state_updated'], [], ['1 node_state_updated']])
      expect([await waiting(), world.counts.published]).toEqual([[], { node_state_updated: 2 }])
    })

    test('and are refused keep their signature and block the later ones of their node until they are published', async () => {
      await addLong(A, 1, EVENT_BYTES_MAX)
      await addLong(A, 2, 10)
      await addLong(B, 1, 10)
      await world.jobs.signing.run(leading)
      const reason = expect.stringContaining(`more than the ${EVENT_BYTES_MAX} of an event`)
      expect([await told(A), await told(B)]).toEqual([[], ['1 policy_updated']])
      expect(await waiting()).toEqual([
        ['a', 1, reason, true],
        ['a', 2, null, false],
      ])
      expect(world.failures).toEqual([expect.objectContaining({ nodeId: A, reason })])
      parts.clock.nowMs = NOW + 60_001
      await world.settle()
      expect([await told(A), world.failures.length]).toEqual([[], 2])
      await sql`delete from outgoing_events where wire is not null`.execute(db())
      await world.settle()
      expect([await told(A), await waiting()]).toEqual([['2 policy_updated'], []])
    })

    test('wait for those that were signed for another stream and are not published', async () => {
      const before = relayWorld({ parts, leading, signer: world.signer })
      await addLong(A, 1, 10)
      await before.jobs.signing.run(leading)
      expect(await waiting()).toEqual([['a', 1, null, true]])
      await addLong(A, 2, 10)
      await addLong(B, 1, 10)
      await world.jobs.signing.run(leading)
      expect([await told(A), await told(B)]).toEqual([[], ['1 policy_updated']])
      await world.jobs.publishing.run(leading)
      await world.jobs.signing.run(leading)
      expect([await told(A), await waiting()]).toEqual([['1 policy_updated', '2 policy_updated'], []])
    })

    test('are not published after the term has ended', async () => {
      await addLong(A, 1, 10)
      await parts.lead()
      await expect(world.jobs.signing.run(leading)).rejects.toThrow('term 1 has ended')
      expect([await told(A), await waiting()]).toEqual([[], [['a', 1, null, false]]])
    })

    test('are published once and in order, whichever step the process crashes after', async () => {
      const signer = testSigner()
      world = relayWorld({ parts, leading, signer })
      /** One process, from its start until nothing is left to do or until it ends. */
      const live = async (datastore: Datastore): Promise<void> => {
        const own = await leaderParts(datastore, NOW, inUse.current())
        try {
          const term = await own.lead()
          await relayWorld({ parts: own, leading: term, stream: logOf(datastore), signer, datastore }).settle()
        } finally {
          own.feed.stop()
        }
      }
      let stepsLeft = 0
      for (let isCrashed = true; isCrashed; stepsLeft += 1) {
        await emptyTables(inUse.current())
        await seedNodes(inUse.current(), [{ id: A }, { id: B }])
        await addLong(A, 1, 10)
        await addLong(A, 2, 10)
        await sql`update node_lanes set last_seq = 2 where node_id = ${A}`.execute(db())
        await world.emit(rotation(A), assignment(A, 1))
        const outcome = await live(crashingDatastore(inUse.current(), stepsLeft)).catch((error: unknown) => error)
        isCrashed = outcome instanceof Crash
        if (!isCrashed) expect(outcome).toBeUndefined()
        await live(inUse.current())
        expect({ stepsLeft, told: await Promise.all([A, B].map(told)), left: await waiting() }).toEqual({
          stepsLeft,
          told: [['1 policy_updated', '2 policy_updated', '3 node_state_updated'], ['1 node_state_updated']],
          left: [],
        })
      }
      expect(stepsLeft).toBeGreaterThan(20)
    }, 240_000)
  })
})
