import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { NO_HINTS, RECONCILE } from '../../../src/server/slices/nodes/heartbeat-hints.ts'
import { createHeartbeatWriter } from '../../../src/server/slices/nodes/heartbeat-store.ts'
import { CHECKSUM, startFleet, type Enrolled, type Fleet } from '../../support/fleet/fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

describe.each(STORES)('Heartbeats on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: Fleet
    let domain: string
    let node: Enrolled
    let startMs: number
    beforeAll(async () => {
      fleet = await startFleet(store)
      startMs = fleet.clock.nowMs
    })
    beforeEach(async () => {
      fleet.clock.nowMs = startMs
      domain = await fleet.domain()
      node = await fleet.enrol(domain)
    })
    afterAll(() => fleet.stop())

    const stored = (id = node.node_id) =>
      fleet.db.selectFrom('node_heartbeats').selectAll().where('node_id', '=', id).executeTakeFirst()
    const ahead = (ms: number) => ({ client_now: new Date(fleet.clock.nowMs + ms).toISOString() })

    it('are answered with their instant and what the server asks of the node, and are stored by then', async () => {
      const answer = await fleet.beat(node, { binary_version: '1.2.3' })
      expect(answer).toMatchObject({
        status: 200,
        body: { accepted_at: '2026-03-01T08:00:00.000Z', reconcile: true, rotate_keys: false },
      })
      const at = new Date('2026-03-01T08:00:00.000Z')
      expect(await stored()).toEqual({
        node_id: node.node_id,
        created_at: at,
        accepted_at: at,
        healthy_since: at,
        binary_version: '1.2.3',
        binary_checksum: Buffer.from(CHECKSUM, 'hex'),
        announced_state: 'never_reported',
        node_revision: '1',
        pulled_node_revision: null,
        pulled_peer_revision: null,
        rotation_pending: false,
      })
    })

    it('leave no audit row when they are accepted', async () => {
      expect(await fleet.audit(await fleet.beat(node))).toBeUndefined()
    })

    it('take a checksum in base64 as in hex', async () => {
      const binary_checksum = Buffer.from(CHECKSUM, 'hex').toString('base64')
      expect(await fleet.beat(node, { binary_checksum })).toMatchObject({ status: 200 })
      expect((await stored())?.binary_checksum).toEqual(Buffer.from(CHECKSUM, 'hex'))
    })

    it.each([60_000, -60_000])('are accepted with a clock that is %d ms off', async (ms) => {
      expect(await fleet.beat(node, ahead(ms))).toMatchObject({ status: 200 })
    })

    it.each([
      ['a clock 60.001 s ahead', 'clock_skew', () => ahead(60_001)],
      ['a clock 60.001 s behind', 'clock_skew', () => ahead(-60_001)],
      ['no instant', 'invalid_body', () => ({ client_now: 'now' })],
      ['a day that does not exist', 'invalid_body', () => ({ client_now: '2026-02-30T08:00:00Z' })],
      ['an instant without a zone', 'invalid_body', () => ({ client_now: '2026-03-01T08:00:00' })],
      ['a checksum of 31 bytes', 'invalid_checksum', () => ({ binary_checksum: 'ab'.repeat(31) })],
      ['an empty version', 'invalid_body', () => ({ binary_version: '' })],
      ['an unknown member', 'invalid_body', () => ({ load: 1 })],
      ['a NUL in the version', 'invalid_body', () => ({ binary_version: 'a\u0000' })],
    ])('are refused with %s, and nothing is stored', async (_what, code, members) => {
      expect(await fleet.beat(node, members())).toMatchObject({ status: 400, body: { code } })
      expect(await stored()).toMatchObject({ accepted_at: null, binary_version: null })
    })

    it('are refused from another node, audited, and nothing is stored', async () => {
      const other = await fleet.enrol(domain)
      const answer = await fleet.beat({ ...node, nsk: other.nsk })
      expect(answer).toMatchObject({ status: 403, body: { code: 'node_id_mismatch' } })
      expect(await fleet.audit(answer)).toMatchObject({
        relation: 'node_heartbeat.record',
        object: `node:${node.node_id}`,
        outcome: 'permission_denied',
        reason: 'node_id_mismatch',
      })
      expect(await stored()).toMatchObject({ accepted_at: null })
    })

    it('are refused from people and without a credential', async () => {
      for (const nsk of [fleet.root, 'nobody']) {
        expect(await fleet.beat({ ...node, nsk })).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
      }
    })

    it('are refused from a node that is gone, even while its key is still known', async () => {
      await fleet.beat(node)
      await fleet.db.deleteFrom('nodes').where('id', '=', node.node_id).execute()
      expect(await fleet.beat(node)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
    })

    it('begin a healthy time after an outage of 90 s, and not before', async () => {
      await fleet.beat(node)
      fleet.wait(89_999)
      await fleet.beat(node)
      expect((await stored())?.healthy_since).toEqual(new Date('2026-03-01T08:00:00.000Z'))
      fleet.wait(90_000)
      await fleet.beat(node)
      expect((await stored())?.healthy_since).toEqual(new Date('2026-03-01T08:02:59.999Z'))
    })

    it('of many nodes at once are all stored and answered', async () => {
      const nodes = []
      for (let n = 0; n < 30; n++) nodes.push(await fleet.enrol(domain))
      fleet.wait(5)
      const answers = await Promise.all([...nodes, ...nodes].map((each) => fleet.beat(each)))
      expect(answers.every(({ status }) => status === 200)).toBe(true)
      const rows = await fleet.db
        .selectFrom('node_heartbeats')
        .select('accepted_at')
        .where(
          'node_id',
          'in',
          nodes.map(({ node_id }) => node_id),
        )
        .execute()
      expect(rows).toHaveLength(30)
      expect(rows.every(({ accepted_at }) => accepted_at?.getTime() === fleet.clock.nowMs)).toBe(true)
    })

    describe('as the store takes them', () => {
      const beatAt = (nodeId: string, acceptedAtMs: number, binaryVersion = 'v') => ({
        nodeId,
        acceptedAtMs,
        binaryVersion,
        checksumHex: '01'.repeat(32),
        duePeerRevision: 0,
      })

      // Before any test that announces a state: rows of silent nodes are in an index of their own.
      it('stay heap-only updates', { skip: store.name === 'embedded' }, async () => {
        const counts = async () => {
          const { rows } = await sql<{ updated: number; hot: number }>`
            select n_tup_upd::int as updated, n_tup_hot_upd::int as hot
            from pg_stat_user_tables where relname = 'node_heartbeats'`.execute(fleet.db)
          return rows[0] ?? { updated: 0, hot: 0 }
        }
        const write = createHeartbeatWriter(fleet.datastore)
        for (let n = 1; n <= 200; n++) await write([beatAt(node.node_id, startMs + n)])
        // PostgreSQL shows what an idle session counted after ten seconds.
        const { updated, hot } = await vi.waitFor(
          async () => {
            const seen = await counts()
            expect(seen.updated).toBeGreaterThanOrEqual(200)
            return seen
          },
          { timeout: 15_000, interval: 200 },
        )
        expect(hot).toBe(updated)
      })

      it('do not go back in time, and the older one is answered as stored', async () => {
        const write = createHeartbeatWriter(fleet.datastore)
        await write([beatAt(node.node_id, startMs + 10, 'newer')])
        expect(await write([beatAt(node.node_id, startMs + 9, 'older')])).toEqual([NO_HINTS])
        expect(await stored()).toMatchObject({ binary_version: 'newer', accepted_at: new Date(startMs + 10) })
      })

      it('tell apart who is there, who has a newer one, and who is gone', async () => {
        const other = await fleet.enrol(domain)
        const write = createHeartbeatWriter(fleet.datastore)
        await write([beatAt(other.node_id, startMs + 10)])
        const batch = [node.node_id, other.node_id, NOWHERE].toSorted().map((id) => beatAt(id, startMs + 5))
        const told = new Map([
          [node.node_id, RECONCILE],
          [other.node_id, NO_HINTS],
        ])
        expect(await write(batch)).toEqual(batch.map(({ nodeId }) => told.get(nodeId)))
      })

      it('take versions as text of any kind', async () => {
        const write = createHeartbeatWriter(fleet.datastore)
        for (const [index, version] of ['{a,"b"}', 'NULL', 'o\'clock \\ "quoted"', ' ä€𝄞 ', ','].entries()) {
          await write([beatAt(node.node_id, startMs + index, version)])
          expect((await stored())?.binary_version).toBe(version)
        }
      })

      it('of nodes that run the same version, the same checksum, both or neither keep to their own', async () => {
        const builds = [
          ['v', 'aa'],
          ['v', 'bb'],
          ['w', 'bb'],
          ['v', 'aa'],
          ['w', 'aa'],
          ['v', 'bb'],
        ] as const
        const enrolled = await Promise.all(builds.map(() => fleet.enrol(domain)))
        const ids = enrolled.map(({ node_id }) => node_id).toSorted()
        const batch = ids.map((id, at) => {
          const [version = '', digits = ''] = builds[at] ?? []
          return { ...beatAt(id, startMs + 1, version), checksumHex: digits.repeat(32) }
        })
        await createHeartbeatWriter(fleet.datastore)(batch)
        const rows = await Promise.all(ids.map((id) => stored(id)))
        expect(rows.map((row) => [row?.binary_version, row?.binary_checksum?.toString('hex').slice(0, 2)])).toEqual(
          builds,
        )
      })

      it('name those nodes that were last announced as anything but healthy', async () => {
        const other = await fleet.enrol(domain)
        await sql`update node_heartbeats set announced_state = 'healthy' where node_id = ${other.node_id}`.execute(
          fleet.db,
        )
        const onBack = vi.fn<(nodeIds: readonly string[]) => void>()
        const write = createHeartbeatWriter(fleet.datastore, onBack)
        await write([node.node_id, other.node_id].toSorted().map((id) => beatAt(id, startMs + 1)))
        await write([beatAt(other.node_id, startMs + 2)])
        expect(onBack.mock.calls).toEqual([[[node.node_id]]])
      })
    })
  })
})
