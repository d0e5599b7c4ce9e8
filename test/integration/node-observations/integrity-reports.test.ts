import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createViolationSweeper } from '../../../src/server/slices/node-observations/violation-sweeper.ts'
import { CHECKSUM, type Enrolled } from '../../support/fleet/fleet.ts'
import { unfenced } from '../../support/datastores/leading.ts'
import { startObservedFleet, type ObservedFleet } from '../../support/fleet/observed-fleet.ts'
import type { Answer } from '../../support/server/control-plane.ts'
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
    const intake = () => `POST /v1/nodes/${node.node_id}/integrity-violations`
    const post = (violations: unknown) => fleet.call(node.nsk, intake(), { violations })
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
      const from = {
        id: expect.any(String),
        node_id: node.node_id,
        domain_id: domain,
        project_id: null,
        artifact_id: expect.any(String),
        status: 'open',
        occurrences: '1',
        accepted_at: new Date(startMs),
        last_accepted_at: new Date(startMs),
        acknowledged_at: null,
        acknowledged_by_subject: null,
        acknowledge_reason: null,
        resolved_at: null,
      }
      const rows = await stored()
      expect(rows).toEqual([
        {
          ...from,
          kind: 'binary',
          artifact: '/usr/bin/agent',
          expected_checksum: Buffer.from(CHECKSUM, 'hex'),
          observed_checksum: Buffer.from('cd'.repeat(32), 'hex'),
          detected_at: new Date('2026-03-01T07:00:00.000Z'),
          last_detected_at: new Date('2026-03-01T07:00:00.000Z'),
        },
        {
          ...from,
          ...hostKey,
          expected_checksum: null,
          observed_checksum: null,
          detected_at: new Date(0),
          last_detected_at: new Date(0),
        },
      ])
      expect(await fleet.audit(answer)).toMatchObject({
        relation: 'node_integrity.report',
        object: `node:${node.node_id}`,
        outcome: 'granted',
        domainId: domain,
      })
      expect(await fleet.outbox(answer)).toMatchObject(
        rows.map(({ id, kind, artifact_id }) => ({
          event: 'IntegrityViolationOpened',
          payload: { violation_id: id, node_id: node.node_id, kind, artifact_id },
        })),
      )
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
      const answer = await fleet.call(node.nsk, intake(), { violations: [violation], urgent: true })
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
      expect(await stored()).toEqual([])
    })

    it.each(['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'])('are taken from %s', async (detected_at) => {
      expect(await post([{ ...violation, detected_at }])).toMatchObject({ status: 202 })
      expect((await stored())[0]?.detected_at).toEqual(new Date(detected_at))
    })

    it('may be 256 in 32 KiB', async () => {
      const violations = Array.from({ length: 256 }, (_, at) => ({ ...short, artifact: `backup-${at}` }))
      const text = JSON.stringify({ violations })
      expect(await fleet.send(node.nsk, intake(), text.padEnd(32 * 1024))).toMatchObject({
        status: 202,
        body: { violation_count: 256 },
      })
      expect(await fleet.send(node.nsk, intake(), text.padEnd(32 * 1024 + 1))).toMatchObject({
        status: 413,
        body: { code: 'request_body_too_large' },
      })
      expect(await stored()).toHaveLength(256)
    })

    it('are refused from another node, from people, and from a node that is gone', async () => {
      const other = await fleet.enrol(domain)
      const foreign = await fleet.call(other.nsk, intake(), { violations: [] })
      expect(foreign).toMatchObject({ status: 403, body: { code: 'forbidden' } })
      const person = await fleet.call(fleet.root, intake(), { violations: [violation] })
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

    describe('that are repeated', () => {
      const rows = async () =>
        (await stored()).map(({ status, occurrences, artifact }) => ({ status, occurrences, artifact }))

      it('count up one row, whose first report stays as it was', async () => {
        const first = await post([violation])
        fleet.wait(60_000)
        const again = await post([{ ...violation, detected_at: '2026-03-01T07:01:00Z' }])
        expect(again).toMatchObject({ status: 202, body: { accepted_at: fleet.instant(0), violation_count: 1 } })
        expect(await stored()).toMatchObject([
          {
            status: 'open',
            occurrences: '2',
            detected_at: new Date('2026-03-01T07:00:00Z'),
            last_detected_at: new Date('2026-03-01T07:01:00Z'),
            accepted_at: new Date(startMs),
            last_accepted_at: new Date(startMs + 60_000),
          },
        ])
        expect(await fleet.outbox(first)).toHaveLength(1)
        expect(await fleet.outbox(again)).toEqual([])
      })

      it('leave an audit row each', async () => {
        await post([violation])
        const again = await post([violation])
        await expect
          .poll(() => fleet.audit(again))
          .toMatchObject({ relation: 'node_integrity.report', outcome: 'granted' })
      })

      it('keep the later instant where the clock of the node was set back', async () => {
        await post([violation])
        await post([{ ...violation, detected_at: '2026-02-01T07:00:00Z' }])
        expect(await stored()).toMatchObject([
          {
            detected_at: new Date('2026-03-01T07:00:00Z'),
            last_detected_at: new Date('2026-03-01T07:00:00Z'),
          },
        ])
      })

      it('count each time that a batch names them', async () => {
        const answer = await post([
          { ...short, detected_at: '2026-03-01T07:00:02Z' },
          { ...short, detected_at: '2026-03-01T07:00:01Z' },
          { ...short, detected_at: '2026-03-01T07:00:03Z' },
        ])
        expect(answer.body).toMatchObject({ violation_count: 3 })
        expect(await stored()).toMatchObject([
          {
            occurrences: '3',
            detected_at: new Date('2026-03-01T07:00:01Z'),
            last_detected_at: new Date('2026-03-01T07:00:03Z'),
          },
        ])
        expect(await fleet.outbox(answer)).toHaveLength(1)
        expect(await post([short, short])).toMatchObject({ status: 202 })
        expect(await rows()).toMatchObject([{ occurrences: '5' }])
      })

      it('are counted beside one that is new, all in one transaction', async () => {
        await post([short])
        const answer = await post([short, violation, short])
        expect(answer.body).toMatchObject({ violation_count: 3 })
        expect(await rows()).toEqual([
          { status: 'open', occurrences: '3', artifact: 'backup' },
          { status: 'open', occurrences: '1', artifact: '/usr/bin/agent' },
        ])
        expect(await fleet.outbox(answer)).toMatchObject([{ payload: { kind: 'binary' } }])
      })

      it.each([
        ['observed checksum', { observed_checksum: 'ef'.repeat(32) }],
        ['unknown checksum', { observed_checksum: undefined }],
        ['kind', { kind: 'hook' }],
        ['artifact', { artifact: '/usr/bin/Agent' }],
      ])('are another violation with another %s', async (_what, members) => {
        await post([violation])
        await post([{ ...violation, ...members }])
        await post([{ ...violation, ...members }])
        const [first, second, ...others] = await stored()
        expect([first?.occurrences, second?.occurrences, others]).toEqual(['1', '2', []])
        const sameThing = 'kind' in members || 'artifact' in members ? 'another artifact' : 'one artifact'
        expect(first?.artifact_id === second?.artifact_id ? 'one artifact' : 'another artifact').toBe(sameThing)
      })

      it('take the checksum that is expected from the latest report that says one', async () => {
        const upgraded = 'ee'.repeat(32)
        await post([violation])
        await post([{ ...violation, expected_checksum: upgraded }])
        await post([{ ...violation, expected_checksum: undefined }])
        expect(await stored()).toMatchObject([{ occurrences: '3', expected_checksum: Buffer.from(upgraded, 'hex') }])
      })

      it('stay acknowledged, and open another row once they are resolved', async () => {
        await post([violation])
        await set('acknowledged')
        await post([violation])
        expect(await rows()).toMatchObject([{ status: 'acknowledged', occurrences: '2' }])
        await set('resolved')
        const answer = await post([violation])
        await post([violation])
        expect(await rows()).toMatchObject([
          { status: 'resolved', occurrences: '2' },
          { status: 'open', occurrences: '2' },
        ])
        expect(await fleet.outbox(answer)).toHaveLength(1)
      })

      it('are counted exactly when many reports of many nodes come at once', async () => {
        const others = [node, await fleet.enrol(domain), await fleet.enrol(domain)]
        const answers = await Promise.all(
          Array.from({ length: 30 }, (_, at) => {
            const { node_id, nsk } = others[at % 3] ?? node
            const violations = at % 2 === 0 ? [violation] : [short, violation]
            return fleet.call(nsk, `POST /v1/nodes/${node_id}/integrity-violations`, { violations })
          }),
        )
        expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 202))
        for (const { node_id } of others) {
          const ofNode = await fleet.db
            .selectFrom('node_integrity_violations')
            .select(['artifact', 'occurrences'])
            .where('node_id', '=', node_id)
            .orderBy('artifact')
            .execute()
          expect(ofNode).toEqual([
            { artifact: '/usr/bin/agent', occurrences: '10' },
            { artifact: 'backup', occurrences: '5' },
          ])
        }
      })

      it('are refused alone where their node is gone, beside others of the same batch', async () => {
        const gone = await fleet.enrol(domain)
        const send = ({ node_id, nsk }: Enrolled, what: object) =>
          fleet.call(nsk, `POST /v1/nodes/${node_id}/integrity-violations`, { violations: [what] })
        await Promise.all([send(gone, violation), post([violation])])
        await fleet.db.deleteFrom('nodes').where('id', '=', gone.node_id).execute()
        const answers = await Promise.all([send(gone, violation), post([violation]), send(gone, short), post([short])])
        expect(answers.map(({ status }) => status)).toEqual([401, 202, 401, 202])
        expect(await count(gone.node_id)).toBe(1)
        expect(await rows()).toMatchObject([{ occurrences: '2' }, { occurrences: '1' }])
      })

      async function set(status: 'acknowledged' | 'resolved'): Promise<void> {
        const at = new Date(fleet.clock.nowMs)
        const instants = status === 'acknowledged' ? { acknowledged_at: at } : { resolved_at: at }
        const update = fleet.db.updateTable('node_integrity_violations').set({ status, ...instants })
        await update.where('node_id', '=', node.node_id).execute()
      }
    })

    it('name one artifact on all nodes of the Domain, and the Project of the node at the first report', async () => {
      const projectId = await fleet.project(domain)
      const other = await fleet.enrol(domain, {}, { project_id: projectId })
      const elsewhere = await fleet.enrol(await fleet.domain())
      await post([short])
      for (const { node_id, nsk } of [other, elsewhere])
        await fleet.call(nsk, `POST /v1/nodes/${node_id}/integrity-violations`, { violations: [short] })
      const rowOf = (nodeId: string) =>
        fleet.db
          .selectFrom('node_integrity_violations')
          .select(['artifact_id', 'project_id'])
          .where('node_id', '=', nodeId)
          .executeTakeFirst()
      const [first, second, third] = [
        await rowOf(node.node_id),
        await rowOf(other.node_id),
        await rowOf(elsewhere.node_id),
      ]
      expect(second).toEqual({ artifact_id: first?.artifact_id, project_id: projectId })
      expect(third?.artifact_id).not.toBe(first?.artifact_id)
    })

    it('are kept 400 days after they were resolved, and forever before', async () => {
      await post([violation, short])
      fleet.wait(500 * DAY_MS)
      const sweep = () => createViolationSweeper(fleet).run(unfenced(fleet))
      await sweep()
      expect(await stored()).toHaveLength(2)
      const resolved = { status: 'resolved', resolved_at: new Date(fleet.clock.nowMs) } as const
      const update = fleet.db.updateTable('node_integrity_violations').set(resolved).where('kind', '=', 'hook')
      await update.where('node_id', '=', node.node_id).execute()
      fleet.wait(400 * DAY_MS)
      await sweep()
      expect(await stored()).toHaveLength(2)
      fleet.wait(1)
      expect(await sweep()).toBe(false)
      expect(await stored()).toMatchObject([{ kind: 'binary' }])
    })

    it('are kept up to 10,000 of a node: resolved ones go first, then acknowledged ones, the oldest first', async () => {
      const other = await fleet.enrol(domain)
      await fill(other.node_id, { status: 'open', rows: 1 })
      await fill(node.node_id, { status: 'open', rows: 9_995 })
      await fill(node.node_id, { status: 'acknowledged', rows: 2 })
      await fill(node.node_id, { status: 'resolved', rows: 2 })
      await post([{ ...violation, artifact: 'first' }])
      expect(await count()).toBe(10_000)
      const ofStatus = async () => {
        const rows = await fleet.db
          .selectFrom('node_integrity_violations')
          .select(['status', (on) => on.fn.countAll<string>().as('rows')])
          .where('node_id', '=', node.node_id)
          .groupBy('status')
          .execute()
        return Object.fromEntries(rows.map(({ status, rows: many }) => [status, Number(many)]))
      }
      const second = await post([violation])
      expect(await ofStatus()).toEqual({ open: 9_997, acknowledged: 2, resolved: 1 })
      expect(await drops(second)).toEqual([])
      const third = await post([
        { ...violation, artifact: 'second' },
        { ...violation, artifact: 'third' },
        { ...violation, artifact: 'fourth' },
        { ...violation, artifact: 'fifth' },
      ])
      expect(await ofStatus()).toEqual({ open: 10_000 })
      expect(await drops(third)).toMatchObject([
        { object: `node:${node.node_id}`, reason: 'violation_limit', context: { status: 'acknowledged', count: 2 } },
        { object: `node:${node.node_id}`, reason: 'violation_limit', context: { status: 'open', count: 1 } },
      ])
      const newest = fleet.db
        .selectFrom('node_integrity_violations')
        .select('artifact')
        .where('node_id', '=', node.node_id)
      const artifacts = (await newest.orderBy('id', 'desc').limit(6).execute()).map(({ artifact }) => artifact)
      expect(artifacts).toEqual(['fifth', 'fourth', 'third', 'second', '/usr/bin/agent', 'first'])
      expect(await count(other.node_id)).toBe(1)
    })

    const drops = (answer: Answer) =>
      fleet.db
        .selectFrom('audit')
        .select(['object', 'reason', 'context'])
        .where('relation', '=', 'integrity_violation.drop')
        .where('correlation_id', '=', String(answer.headers.get('x-correlation-id')))
        .orderBy('id')
        .execute()

    async function count(nodeId = node.node_id): Promise<number> {
      const row = await fleet.db
        .selectFrom('node_integrity_violations')
        .select((on) => on.fn.countAll<string>().as('rows'))
        .where('node_id', '=', nodeId)
        .executeTakeFirstOrThrow()
      return Number(row.rows)
    }

    /** Older than all that the server makes. */
    async function fill(nodeId: string, { status, rows }: { readonly status: string; readonly rows: number }) {
      const [artifactId, earlier] = [fleet.ids.next(), new Date(startMs - DAY_MS)]
      await sql`
        insert into integrity_artifacts (id, domain_id, kind, artifact)
        values (${artifactId}, ${domain}, 'hook', ${artifactId})`.execute(fleet.db)
      await sql`
        insert into node_integrity_violations (
          id, node_id, domain_id, kind, artifact, artifact_id, status, observed_checksum,
          detected_at, last_detected_at, accepted_at, last_accepted_at, resolved_at
        )
        select ('00000000' || substr(gen_random_uuid()::text, 9))::uuid, ${nodeId}, ${domain}, 'hook', 'old',
          ${artifactId}, ${status}, sha256(convert_to(${status} || place, 'UTF8')), ${earlier}, ${earlier}, ${earlier}, ${earlier},
          case when ${status} = 'resolved' then ${earlier}::timestamptz end
        from generate_series(1, ${rows}::int) as place`.execute(fleet.db)
    }
  })
})

const short = { kind: 'hook', artifact: 'backup', detected_at: '2026-03-01T07:00:00Z' }
