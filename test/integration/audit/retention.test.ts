import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { ACME, openLedger, type Ledger } from '../../support/server/audit-ledger.ts'
import { STORES, useDatastore } from '../../support/datastores/stores.ts'

const DAY_MS = 86_400_000

describe.each(STORES)('on $name', (store) => {
  describe.skipIf(store.missing)('audit rows', () => {
    const inUse = useDatastore(store)
    let ledger: Ledger
    beforeEach(async () => {
      ledger = await openLedger(inUse.current())
    })

    const keep = (days: number) =>
      sql`
        insert into domains (id, slug, display_name, mesh_cidr, endpoint_ttl_seconds, audit_retention_days,
          trusted_networks, business_hours, strong_acr, created_at, updated_at)
        values (${ACME}, 'acme', 'Acme', '100.64.0.0/10', 300, ${days}, '[]', 'null', '[]', now(), now())`.execute(
        ledger.db,
      )
    const kept = async () =>
      (await ledger.db.selectFrom('audit').select('id').where('domain_id', '=', ACME).execute()).length
    /** Rows of one day, sealed and signed. */
    const day = async (rows: number) => {
      await ledger.write(ACME, rows)
      await ledger.settle(ledger.sealer)
      ledger.clock.nowMs += DAY_MS
    }

    it('are kept for as many days as their Domain says, then go, a signed checkpoint before them', async () => {
      await keep(2)
      await day(1_500)
      await day(3)
      await ledger.settle(ledger.retention)
      expect(await kept()).toBe(1_503)
      ledger.clock.nowMs += 1
      await ledger.settle(ledger.retention)
      expect(await kept()).toBe(3)
      const answer = await ledger.verify(ACME)
      expect(answer).toMatchObject({
        verdict: 'intact',
        start: { seq: 1_500, signed: { kind: 'checkpoint' } },
        rows: 3,
        verified_through: 1_503,
      })
      const tables = ['audit_seals', 'audit_heads'] as const
      const seqs = tables.map(async (table) => ledger.db.selectFrom(table).select('seq').orderBy('seq').execute())
      expect(await Promise.all(seqs)).toEqual([
        [{ seq: '1501' }, { seq: '1502' }, { seq: '1503' }],
        [{ seq: '1500' }, { seq: '1503' }],
      ])
    })

    it('are verified from the checkpoint on while those before it are being taken away', async () => {
      await keep(2)
      await day(2_000)
      await day(1)
      ledger.clock.nowMs += 1
      for (const left of [2_001, 1_001, 1]) {
        expect(await ledger.retention.run(ledger.leading)).toBe(true)
        expect(await kept()).toBe(left)
        expect(await ledger.verify(ACME)).toMatchObject({ verdict: 'intact', start: { seq: 2_000 }, rows: 1 })
      }
    })

    it('of the platform, and of Domains that are gone, are kept for 400 days', async () => {
      await day(2)
      await ledger.write(null, 2)
      await ledger.settle(ledger.sealer)
      ledger.clock.nowMs += 399 * DAY_MS
      await ledger.settle(ledger.retention)
      const count = async () => (await ledger.db.selectFrom('audit').select('id').execute()).length
      expect(await count()).toBe(4)
      ledger.clock.nowMs += 1
      await ledger.settle(ledger.retention)
      expect(await count()).toBe(2)
      ledger.clock.nowMs += DAY_MS
      await ledger.settle(ledger.retention)
      expect(await count()).toBe(0)
      expect(await ledger.verify(null)).toMatchObject({ verdict: 'intact', verified_through: 2, rows: 0 })
    })

    it('that are not sealed are never taken away', async () => {
      await keep(1)
      await ledger.write(ACME, 2)
      ledger.clock.nowMs += 10 * DAY_MS
      await ledger.settle(ledger.retention)
      expect(await kept()).toBe(2)
    })

    it('go on being sealed where all before them are gone', async () => {
      await keep(1)
      await day(2)
      ledger.clock.nowMs += 1
      await ledger.settle(ledger.retention)
      expect(await kept()).toBe(0)
      await day(2)
      expect(await ledger.verify(ACME)).toMatchObject({ verdict: 'intact', start: { seq: 2 }, verified_through: 4 })
    })

    it('begin with a checkpoint that cannot be moved', async () => {
      await keep(2)
      await day(2)
      await day(2)
      ledger.clock.nowMs += 1
      await ledger.settle(ledger.retention)
      await sql`update audit_heads set hash = (select hash from audit_seals where seq = 3) where kind = 'checkpoint'`.execute(
        ledger.db,
      )
      expect(await ledger.verify(ACME)).toMatchObject({
        verdict: 'broken',
        first_bad: { seq: 2, reason: 'bad_signature' },
      })
    })
  })
})
