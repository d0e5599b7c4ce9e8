import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAuditSink } from '../../../src/server/adapters/postgres/audit-sink.ts'
import { createUuidV7 } from '../../../src/server/adapters/system/uuid-v7.ts'
import { createAuditRetention } from '../../../src/server/slices/audit/retention.ts'
import { createAuditSealer } from '../../../src/server/slices/audit/sealer.ts'
import { createExportVerifier, type ExportReport, type ExportStart } from '../../../src/shared/audit/export-lines.ts'
import type { SealedDecision } from '../../../src/shared/audit/chain.ts'
import type { SignedPosition } from '../../../src/shared/audit/signed-position.ts'
import { startAccess, type Access, type Person } from '../../support/server/access.ts'
import { START_MS } from '../../support/server/test-backend.ts'
import { nodeSha256 } from '../../support/server/audit-chain.ts'
import { auditEntry, leadingOver } from '../../support/server/audit-ledger.ts'
import { STORES, useDatastore } from '../../support/datastores/stores.ts'

/** Long after everything that the requests of these tests leave. */
const LATER_MS = START_MS + 86_400_000
const MINUTE_MS = 60_000

interface Exported {
  readonly chain: string
  readonly start: ExportStart
  readonly items: readonly SealedDecision[]
  readonly heads: readonly SignedPosition[]
  readonly through_seq: number
  readonly next_seq: number | null
}

describe.each(STORES)('the chain of a Domain on $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    const inUse = useDatastore(store)
    let access: Access
    let domainId: string
    let auditor: Person
    let stranger: Person

    /** Three stretches of 3, 4 and 5 rows, a minute apart, each ending with a signed head. */
    beforeAll(async () => {
      access = await startAccess(inUse.current())
      domainId = await access.domain('acme')
      const home = await access.domain('home')
      auditor = await access.person(home)
      stranger = await access.person(home)
      await access.grant(auditor.subject, 'auditor', `domain:${domainId}`, domainId)
      const clock = { nowMs: LATER_MS, now: () => clock.nowMs }
      const ids = createUuidV7(clock)
      const sealer = createAuditSealer({ clock, ids, sha256: nodeSha256, signer: access.signer, batchRows: 2_000 })
      for (const count of [3, 4, 5]) {
        const rows = Array.from({ length: count }, () => ({
          ...auditEntry(domainId),
          id: ids.next(),
          atMs: clock.nowMs,
        }))
        await createAuditSink(access.datastore).write(rows)
        while (await sealer.run(leadingOver(access.datastore)));
        clock.nowMs += MINUTE_MS
      }
    })
    afterAll(() => access.stop())

    const ask = async (what: string, query: string, caller = auditor) =>
      access.call(caller.token, `GET /v1/audit/${what}?domain_id=${domainId}${query}`)
    const page = async (query: string): Promise<Exported> => (await ask('export', query)).body as unknown as Exported
    const seqs = ({ items }: Exported) => items.map(({ seq }) => seq)

    /** Follows the pages as the command does, and verifies what came with the public keys alone. */
    async function exported(query: string, rows: number): Promise<ExportReport> {
      const keys = access.signer.keys().map(({ kid, publicKey, notBefore }) => ({
        kid,
        publicKey,
        notBeforeMs: notBefore.getTime(),
        notAfterMs: undefined,
      }))
      const verifier = createExportVerifier({ sha256: nodeSha256, keys })
      const take = (line: object) => verifier.line(JSON.stringify(line))
      let count = 0
      for (let next: string | undefined = query; next !== undefined;) {
        const { chain, start, items, heads, through_seq, next_seq } = await page(`${next}&rows=${rows}`)
        const headAt = new Map(heads.map((head) => [head.seq, { type: 'head', ...head }]))
        if (count === 0) await take({ type: 'header', format: 'ctl-audit-export/1', chain, start })
        const lines = items.flatMap((item) => [{ type: 'row', ...item }, headAt.get(item.seq) ?? []].flat())
        for (const line of lines) await take(line)
        count += items.length
        const { seq, hash } = items.at(-1) ?? start
        if (next_seq === null) await take({ type: 'end', seq, hash, rows: count })
        next = next_seq === null ? undefined : `&from_seq=${next_seq}&through_seq=${through_seq}`
      }
      return verifier.end()
    }

    it('verifies', async () => {
      const answer = await ask('verify', '')
      expect(answer.status).toBe(200)
      expect(answer.body).toMatchObject({
        chain: `domain:${domainId}`,
        verdict: 'intact',
        start: { seq: 0, hash: '0'.repeat(64), signed: null },
        rows: 12,
        verified_through: 12,
        signed_through: 12,
        heads_verified: 3,
        heads_unknown: 0,
        sealed_through: 12,
        first_bad: null,
        next_seq: null,
      })
    })

    it('verifies from any row on, and audits the look', async () => {
      const answer = await ask('verify', '&from_seq=8')
      expect(answer.body).toMatchObject({ start: { seq: 7 }, rows: 5, verified_through: 12 })
      expect(await access.audited(answer)).toMatchObject([
        { relation: 'audit.verify', object: `domain:${domainId}`, outcome: 'granted', context: { item_count: 5 } },
      ])
    })

    it.each([1, 2, 5, 1000])('is exported in pages of %d so that it can be verified elsewhere', async (rows) => {
      expect(await exported('', rows)).toMatchObject({
        chain: `domain:${domainId}`,
        rows: 12,
        signedThrough: 12,
        headsVerified: 3,
        firstBad: undefined,
      })
    })

    it.each<[string, string, number[]]>([
      ['since the second head', `&since=${instant(MINUTE_MS)}`, [8, 9, 10, 11, 12]],
      ['since a moment before it', `&since=${instant(MINUTE_MS - 1)}`, [4, 5, 6, 7, 8, 9, 10, 11, 12]],
      ['until the second head', `&until=${instant(MINUTE_MS)}`, [1, 2, 3, 4, 5, 6, 7]],
      ['until a moment after it', `&until=${instant(MINUTE_MS + 1)}`, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
      ['between the first two', `&since=${instant(0)}&until=${instant(MINUTE_MS)}`, [4, 5, 6, 7]],
      ['after everything', `&since=${instant(9 * MINUTE_MS)}`, []],
      ['from a row on', '&from_seq=11', [11, 12]],
      ['through a row', '&through_seq=2', [1, 2]],
    ])('is exported %s in whole stretches between heads', async (_what, query, expected) => {
      expect(seqs(await page(query))).toEqual(expected)
    })

    it('is exported from a signed head on where it does not begin with its first row', async () => {
      expect((await page(`&since=${instant(MINUTE_MS)}`)).start).toMatchObject({ seq: 7, signed: { kind: 'head' } })
      expect(await exported(`&since=${instant(MINUTE_MS)}`, 2)).toMatchObject({ rows: 5, firstBad: undefined })
    })

    it('audits its export', async () => {
      expect(await access.audited(await ask('export', '&rows=3'))).toMatchObject([
        { relation: 'audit.export', object: `domain:${domainId}`, outcome: 'granted', context: { item_count: 3 } },
      ])
    })

    it.each(['verify', 'export'])('refuses to %s for those who are no auditors there', async (what) => {
      const answer = await ask(what, '', stranger)
      expect(answer.status).toBe(403)
      expect(answer.body.missing_relation).toEqual({
        object: `domain:${domainId}`,
        relation: 'auditor',
        subject: stranger.subject,
      })
    })

    it.each([
      ['verify', '&scope=platform'],
      ['verify', '&from_seq=0'],
      ['verify', '&from_seq=-1'],
      ['verify', '&from_seq=1e1'],
      ['verify', '&from_seq=14'],
      ['export', '&rows=0'],
      ['export', '&rows=1001'],
      ['export', '&from_seq=x'],
      ['export', '&from_seq=14'],
      ['export', '&since=yesterday'],
      ['export', '&since=2026-03-02T00:00:00Z&until=2026-03-01T00:00:00Z'],
    ])('refuses to %s with %s', async (what, query) => {
      const answer = await ask(what, query)
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_audit_filter'])
    })

    it('without any row verifies and is exported', async () => {
      const empty = await access.domain('empty')
      await access.grant(auditor.subject, 'auditor', `domain:${empty}`, empty)
      const of = (what: string) => access.call(auditor.token, `GET /v1/audit/${what}?domain_id=${empty}`)
      expect((await of('verify')).body).toMatchObject({ verdict: 'intact', rows: 0, sealed_through: 0, next_seq: null })
      expect((await of('export')).body).toMatchObject({ items: [], heads: [], through_seq: 0, next_seq: null })
    })

    it('begins with its checkpoint once its oldest rows are gone', async () => {
      const nowMs = LATER_MS + 400 * 86_400_000 + 1
      const retention = createAuditRetention({
        clock: { now: () => nowMs },
        signer: access.signer,
        platformDays: 400,
      })
      while (await retention.run(leadingOver(access.datastore)));
      const first = await page('')
      expect([seqs(first)[0], first.start]).toMatchObject([4, { seq: 3, signed: { kind: 'checkpoint' } }])
      expect(await exported('', 4)).toMatchObject({ rows: 9, firstBad: undefined })
      expect((await page('&from_seq=2')).start).toMatchObject({ seq: 3, signed: { kind: 'checkpoint' } })
    })

    it('shows where it is broken', async () => {
      await sql`
        update audit set reason = 'because' where id in (
          select audit_id from audit_seals join audit_chains on audit_chains.id = chain_id
          where seq = 9 and domain_id = ${domainId}
        )`.execute(access.db)
      expect((await ask('verify', '')).body).toMatchObject({
        verdict: 'broken',
        verified_through: 8,
        first_bad: { seq: 9, reason: 'row_altered' },
      })
      expect((await exported('', 5)).firstBad).toMatchObject({ seq: 9, reason: 'row_altered' })
    })
  })
})

function instant(offsetMs: number): string {
  return new Date(LATER_MS + offsetMs).toISOString()
}
