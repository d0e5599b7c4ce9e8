import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import {
  provider,
  RELAY,
  rule,
  startBridgeFleet,
  tunnel,
  type BridgeFleet,
  type BridgeUnderTest,
} from '../../support/fleet/bridge-fleet.ts'
import type { Answer } from '../../support/server/control-plane.ts'

type Write = readonly [operation: string, body: unknown]

describe.each(STORES)('Writes of one bridge at one time on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: BridgeFleet
    let bridge: BridgeUnderTest
    let target: string
    beforeAll(async () => {
      fleet = await startBridgeFleet(store)
      target = await fleet.node({ domainId: fleet.domainId })
    })
    beforeEach(async () => {
      bridge = await fleet.bridge()
    })
    afterAll(() => fleet.stop())

    /** Waits until so many connections wait for a lock. */
    async function untilWaiting(tx: BridgeFleet['db'], count: number): Promise<void> {
      for (let tries = 0; tries < 500; tries += 1) {
        const { rows } = await sql<{ waiting: number }>`
          select count(*)::int as waiting from pg_locks where not granted`.execute(tx)
        if ((rows[0]?.waiting ?? 0) >= count) return
        await sleep(20)
      }
      throw new Error('the writes did not wait for the bridge')
    }

    /**
     * Makes both writes pass the validation before their transactions, then lets them go on in that order. The embedded store
     * has one connection: there they follow each other.
     */
    async function race(writes: readonly [Write, Write]): Promise<readonly Answer[]> {
      const begun: Promise<Answer>[] = []
      const begin = ([operation, body]: Write) => void begun.push(fleet.on(bridge, operation, body))
      if (store.name === 'embedded') {
        writes.forEach(begin)
        return Promise.all(begun)
      }
      await fleet.datastore.transaction('worker', async (tx) => {
        await sql`select from resources where id = ${bridge.id} for update`.execute(tx)
        for (const [index, write] of writes.entries()) {
          begin(write)
          await untilWaiting(tx, index + 1)
        }
      })
      return Promise.all(begun)
    }

    const CASES: readonly (readonly [string, string, () => readonly [Write, Write]])[] = [
      [
        'a port',
        'bridge_port_conflict',
        () => [
          ['PUT /relay', { enabled: true, listen_port: 7 }],
          ['POST /user-access', provider('a', { listen_port: 7 })],
        ],
      ],
      [
        'a target',
        'bridge_port_conflict',
        () => [
          ['POST /ingress', rule('a', target)],
          ['POST /ingress', rule('b', target)],
        ],
      ],
      [
        'a server name',
        'slug_conflict',
        () => [
          ['POST /ingress', rule('a', target, { sni_host: 'one.example.org' })],
          ['POST /ingress', rule('b', target, { sni_host: 'one.example.org', target_port: 9 })],
        ],
      ],
      [
        'a slug',
        'slug_conflict',
        () => [
          ['POST /user-access', provider('a', { listen_port: 1, interface_name: 'one' })],
          ['POST /user-access', provider('a', { listen_port: 2, interface_name: 'two' })],
        ],
      ],
      [
        'an interface name',
        'interface_name_conflict',
        () => [
          ['POST /user-access', provider('a', { interface_name: 'wg0', listen_port: 1 })],
          ['POST /user-access', provider('b', { interface_name: 'wg0', listen_port: 2 })],
        ],
      ],
      [
        'a subnet',
        'subnet_overlap_with_tunnel',
        () => [
          ['POST /site-to-site', tunnel('a', { allowed_subnets: ['10.0.0.0/8'] })],
          ['POST /site-to-site', tunnel('b', { allowed_subnets: ['10.1.0.0/16'] })],
        ],
      ],
    ]

    describe.each(CASES)('of which both claim %s', (_, code, writesOf) => {
      it.each([
        ['as they are', false],
        ['the other way round', true],
      ])('have one winner, and the other leaves nothing: %s', async (__, isReversed) => {
        const [first, second] = writesOf()
        const answers = await race(isReversed ? [second, first] : [first, second])
        const refused = answers.filter(({ status }) => status >= 300)
        expect(refused.map(({ status, body }) => [status, body['code']])).toEqual([[409, code]])
        for (const answer of answers) expect(await fleet.outbox(answer)).toHaveLength(refused.includes(answer) ? 0 : 1)
        expect(await fleet.eventsOf(bridge)).toHaveLength(1)
        const [loser] = refused
        if (loser === undefined) throw new Error('no write was refused')
        const outcome = code === 'slug_conflict' ? 'identity_conflict' : 'invariant_violation'
        expect(await fleet.audit(loser)).toMatchObject({ outcome, reason: code })
        expect((await stored()).reduce((sum, count) => sum + count, 0)).toBe(1)
      })
    })

    /** Rows of parts. */
    async function stored(): Promise<number[]> {
      const tables = ['bridge_relays', 'bridge_user_access', 'bridge_ingress_rules', 'bridge_tunnels'] as const
      const counts: number[] = []
      for (const table of tables)
        counts.push(
          (await fleet.db.selectFrom(table).select('resource_id').where('resource_id', '=', bridge.id).execute())
            .length,
        )
      return counts
    }

    it('that do not conflict both succeed, and the configuration has both', async () => {
      const answers = await race([
        ['PUT /relay', RELAY],
        ['POST /user-access', provider('a')],
      ])
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 201])
      expect(await fleet.configOf(bridge)).toMatchObject({ relay: RELAY, user_access: [{ slug: 'a' }] })
    })

    describe('that a constraint refuses alone', () => {
      it('answer as the validator does: a port', async () => {
        const claim = { resource_id: bridge.id, listen_port: 7, owner: 'elsewhere' }
        await fleet.db.insertInto('bridge_listen_ports').values(claim).execute()
        const answer = await fleet.on(bridge, 'PUT /relay', { enabled: true, listen_port: 7 })
        expect([answer.status, answer.body['code'], answer.body['port']]).toEqual([409, 'bridge_port_conflict', 7])
        expect(await stored()).toEqual([0, 0, 0, 0])
        expect(await fleet.outbox(answer)).toEqual([])
      })

      it('answer as the validator does: a subnet', async () => {
        await fleet.make(bridge, 'POST /site-to-site', tunnel('a', { allowed_subnets: ['10.0.0.0/8'] }))
        await fleet.db
          .updateTable('bridge_tunnels')
          .set({ allowed_subnets: ['192.168.0.0/24'] })
          .execute()
        const answer = await fleet.on(bridge, 'POST /site-to-site', tunnel('b', { allowed_subnets: ['10.1.0.0/16'] }))
        expect([answer.status, answer.body['code']]).toEqual([409, 'subnet_overlap_with_tunnel'])
        expect(await fleet.outbox(answer)).toEqual([])
      })
    })

    it('record the secrets that they name, until the part is deleted', async () => {
      await fleet.make(bridge, 'POST /user-access', provider('a', { auth_secret_ref: 'secret:acme/edge/key:3' }))
      await fleet.make(bridge, 'POST /site-to-site', tunnel('b'))
      const rows = fleet.db
        .selectFrom('bridge_secret_refs')
        .select(['owner', 'project_id', 'name', 'version'])
        .where('resource_id', '=', bridge.id)
        .orderBy('owner')
      expect(await rows.execute()).toEqual([
        { owner: 'site-to-site/b', project_id: fleet.projectId, name: 'hq', version: null },
        { owner: 'user-access/a', project_id: fleet.projectId, name: 'key', version: 3 },
      ])
      await fleet.make(bridge, 'DELETE /user-access/a')
      expect(await rows.execute()).toHaveLength(1)
    })
  })
})
