import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createViolationSweeper } from '../../../src/server/slices/node-observations/violation-sweeper.ts'
import { CHECKSUM, type Enrolled } from '../../support/fleet/fleet.ts'
import { unfenced } from '../../support/datastores/leading.ts'
import { startObservedFleet, type ObservedFleet } from '../../support/fleet/observed-fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

const DAY_MS = 24 * 60 * 60 * 1000

describe.each(STORES)('Integrity violations on the $name store', (store) => {
  describe.skipIf(store.missing)('as nodes report them', () => {
    let fleet: ObservedFleet
    let domain: string
    let node: Enrolled
    let startMs: number
    beforeAll(async () => {
      fleet = await startObservedFleet(store)
      startMs = fleet.clock.nowMs
      domain = await fleet.domain()
    })
    beforeEach(async () => {
      fleet.clock.nowMs = startMs
      node = await fleet.enrol(domain)
    })
    afterAll(() => fleet.stop())

    const violation = {
      kind: 'binary',
      artifact: '/usr/bin/agent',
      expected_checksum: CHECKSUM,
      observed_checksum: Buffer.from('cd'.repeat(32), 'hex').toString('base64'),
      detected_at: '2026-03-01T09:00:00+02:00',
    }
    const at = () => `POST /v1/nodes/${node.node_id}/integrity-violations`
    const post = (violations: unknown) => fleet.call(node.nsk, at(), { violations })
    const stored = () =>
      fleet.db
        .selectFrom('node_integrity_violations')
        .selectAll()
        .where('node_id', '=', node.node_id)
        .orderBy('id')
        .execute()

    it('are taken as a batch, in its order, and each has an id', async () => {
      const hostKey = { kind: 'host_key', artifact: 'ssh_host_ed25519_key', detected_at: '1970-01-01T00:00:00Z' }
      const answer = await post([violation, hostKey])
      expect(answer.status).toBe(202)
      expect(answer.body).toEqual({ accepted_at: fleet.instant(0), violation_count: 2 })
      const from = { id: expect.any(String), node_id: node.node_id, domain_id: domain, accepted_at: new Date(startMs) }
      expect(await stored()).toEqual([
        {
          ...from,
          kind: 'binary',
          artifact: '/usr/bin/agent',
          expected_checksum: Buffer.from(CHECKSUM, 'hex'),
          observed_checksum: Buffer.from('cd'.repeat(32), 'hex'),
          detected_at: new Date('2026-03-01T07:00:00.000Z'),
        },
        { ...from, ...hostKey, expected_checksum: null, observed_checksum: null, detected_at: new Date(0) },
      ])
      expect(await fleet.audit(answer)).toMatchObject({
        relation: 'node_integrity.report',
        object: `node:${node.node_id}`,
        outcome: 'granted',
        domainId: domain,
      })
      expect(await fleet.outbox(answer)).toEqual([])
    })

    it.each([
      ['no violation', 'invalid_batch', []],
      ['257 violations', 'invalid_batch', Array.from({ length: 257 }, () => short)],
      ['what is no list', 'invalid_batch', 'all of them'],
      ['no list', 'invalid_batch', undefined],
      ['a kind that is not known', 'invalid_batch', [short, { ...short, kind: 'kernel' }]],
      ['no artifact', 'invalid_batch', [short, { ...short, artifact: '' }]],
      ['a long artifact', 'invalid_batch', [short, { ...short, artifact: 'x'.repeat(513) }]],
      ['an instant that is none', 'invalid_batch', [short, { ...short, detected_at: 'yesterday' }]],
      ['an instant before the year 1', 'invalid_batch', [{ ...short, detected_at: '0001-01-01T00:00:00+01:00' }]],
      ['an instant after the year 9999', 'invalid_batch', [{ ...short, detected_at: '9999-12-31T23:59:59-01:00' }]],
      ['an unknown member', 'invalid_batch', [short, { ...short, severity: 1 }]],
      ['a checksum of 31 bytes', 'invalid_checksum', [short, { ...short, observed_checksum: 'ab'.repeat(31) }]],
      ['a checksum that is none', 'invalid_checksum', [{ ...short, expected_checksum: '' }, short]],
    ])('are refused with %s, all of them', async (_what, code, violations) => {
      expect(await post(violations)).toMatchObject({ status: 400, body: { code } })
      expect(await stored()).toEqual([])
    })

    it('are refused beside an unknown member', async () => {
      const answer = await fleet.call(node.nsk, at(), { violations: [violation], urgent: true })
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
      expect(await stored()).toEqual([])
    })

    it.each(['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'])('are taken from %s', async (detected_at) => {
      expect(await post([{ ...violation, detected_at }])).toMatchObject({ status: 202 })
      expect((await stored())[0]?.detected_at).toEqual(new Date(detected_at))
    })

    it('may be 256 in 32 KiB', async () => {
      const text = JSON.stringify({ violations: Array.from({ length: 256 }, () => short) })
      expect(await fleet.send(node.nsk, at(), text.padEnd(32 * 1024))).toMatchObject({
        status: 202,
        body: { violation_count: 256 },
      })
      expect(await fleet.send(node.nsk, at(), text.padEnd(32 * 1024 + 1))).toMatchObject({
        status: 413,
        body: { code: 'request_body_too_large' },
      })
      expect(await stored()).toHaveLength(256)
    })

    it('are refused from another node, from people, and from a node that is gone', async () => {
      const other = await fleet.enrol(domain)
      const foreign = await fleet.call(other.nsk, at(), { violations: [] })
      expect(foreign).toMatchObject({ status: 403, body: { code: 'forbidden' } })
      const person = await fleet.call(fleet.root, at(), { violations: [violation] })
      expect(person).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
      await post([violation])
      await fleet.db.deleteFrom('nodes').where('id', '=', node.node_id).execute()
      expect(await post([violation])).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
    })

    it('stay when their node goes, which is what they are the reason for', async () => {
      await post([violation])
      expect(await fleet.call(fleet.root, `DELETE /v1/nodes/${node.node_id}`)).toMatchObject({ status: 204 })
      expect(await stored()).toHaveLength(1)
    })

    it('are kept 400 days', async () => {
      await post([violation])
      const sweep = () => createViolationSweeper(fleet).run(unfenced(fleet))
      fleet.wait(400 * DAY_MS)
      await sweep()
      expect(await stored()).toHaveLength(1)
      fleet.wait(1)
      expect(await sweep()).toBe(false)
      expect(await stored()).toEqual([])
    })

    it('are kept up to the newest 10,000 of a node', async () => {
      const other = await fleet.enrol(domain)
      await fill(other.node_id, 1)
      for (let n = 0; n < 9; n++) await fill(node.node_id, 1_111)
      await post([{ ...violation, artifact: 'first' }])
      expect(await count()).toBe(10_000)
      await post([violation, { ...violation, artifact: 'last' }])
      expect(await count()).toBe(10_000)
      const newest = fleet.db
        .selectFrom('node_integrity_violations')
        .select('artifact')
        .where('node_id', '=', node.node_id)
      const artifacts = (await newest.orderBy('id', 'desc').limit(4).execute()).map(({ artifact }) => artifact)
      expect(artifacts).toEqual(['last', '/usr/bin/agent', 'first', 'old'])
      expect(await count(other.node_id)).toBe(1)
    })

    async function count(nodeId = node.node_id): Promise<number> {
      const row = await fleet.db
        .selectFrom('node_integrity_violations')
        .select((on) => on.fn.countAll<string>().as('rows'))
        .where('node_id', '=', nodeId)
        .executeTakeFirstOrThrow()
      return Number(row.rows)
    }

    /** Older than all that the server makes: their ids begin with zeros. */
    async function fill(nodeId: string, rows: number): Promise<void> {
      await sql`
        insert into node_integrity_violations (id, node_id, domain_id, kind, artifact, detected_at, accepted_at)
        select ('00000000' || substr(gen_random_uuid()::text, 9))::uuid, ${nodeId}, ${domain}, 'hook', 'old',
          ${new Date(startMs)}, ${new Date(startMs)}
        from generate_series(1, ${rows}::int)`.execute(fleet.db)
    }
  })
})

const short = { kind: 'hook', artifact: 'backup', detected_at: '2026-03-01T07:00:00Z' }
