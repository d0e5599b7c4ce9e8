import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { LeadershipLost } from '../../../src/server/ports/leadership-lost.ts'
import type { Leading } from '../../../src/server/ports/leadership.ts'
import {
  ACME,
  auditEntry,
  GLOBEX,
  LEDGER_START_MS,
  openLedger,
  type Ledger,
} from '../../support/server/audit-ledger.ts'
import { leaderParts } from '../../support/datastores/leading.ts'
import { STORES, useDatastore } from '../../support/datastores/stores.ts'

describe.each(STORES)('on $name', (store) => {
  describe.skipIf(store.missing)('the sealer', () => {
    const inUse = useDatastore(store)
    let ledger: Ledger
    beforeEach(async () => {
      ledger = await openLedger(inUse.current())
    })

    const seals = async (domainId: string | null) => {
      const { rows } = await sql<{ seq: number; at: Date; id: string }>`
        select seal.seq::integer as seq, audit.at, audit.id from audit_seals as seal
        join audit_chains as chain on chain.id = seal.chain_id
        join audit on audit.id = seal.audit_id
        where chain.domain_id is not distinct from ${domainId}::uuid order by seal.seq`.execute(ledger.db)
      return rows
    }
    const heads = async () =>
      (await ledger.db.selectFrom('audit_heads').select('seq').orderBy('seq').execute()).map(({ seq }) => Number(seq))

    it('gives each Domain and the platform a chain of its own, numbered from 1 in the order of time', async () => {
      await ledger.write(ACME, 2, LEDGER_START_MS + 5)
      await ledger.write(ACME, 1, LEDGER_START_MS)
      await ledger.write(GLOBEX, 1)
      await ledger.write(null, 1)
      await ledger.settle(ledger.sealer)
      const acme = await seals(ACME)
      expect(acme.map(({ seq, at }) => [seq, at.getTime() - LEDGER_START_MS])).toEqual([
        [1, 0],
        [2, 5],
        [3, 5],
      ])
      expect([(await seals(GLOBEX)).length, (await seals(null)).length]).toEqual([1, 1])
      for (const domainId of [ACME, GLOBEX, null])
        expect(await ledger.verify(domainId)).toMatchObject({ verdict: 'intact', unsealed: 0, next_seq: null })
    })

    it('takes many small statements in one batch, and says that there is more', async () => {
      await sql`
        do $$ begin
          for row in 1..2100 loop
            insert into audit values (gen_random_uuid(), now(), null, 's', 'r', 'o', 'granted', '', 'c', '{}');
          end loop;
        end $$`.execute(ledger.db)
      expect(await ledger.sealer.run(ledger.leading)).toBe(true)
      expect(await seals(null)).toHaveLength(2_000)
      expect(await ledger.sealer.run(ledger.leading)).toBe(false)
      expect(await ledger.verify(null)).toMatchObject({ verdict: 'intact', verified_through: 2_100 })
    })

    it('seals a row that comes late under a higher number', async () => {
      await ledger.write(ACME, 2)
      await ledger.settle(ledger.sealer)
      await ledger.write(ACME, 1, LEDGER_START_MS - 3_600_000)
      await ledger.settle(ledger.sealer)
      expect((await seals(ACME)).map(({ at }) => at.getTime() - LEDGER_START_MS)).toEqual([0, 0, -3_600_000])
      expect(await ledger.verify(ACME)).toMatchObject({ verdict: 'intact', verified_through: 3 })
    })

    // The embedded store has one session: nothing else runs while a transaction is open.
    it.skipIf(store.name === 'embedded')(
      'sees a row only once it is committed, and seals others meanwhile',
      async () => {
        let commit = (): void => undefined
        const mayCommit = new Promise<void>((resolve) => (commit = resolve))
        let isWritten = (): void => undefined
        const written = new Promise<void>((resolve) => (isWritten = resolve))
        const slow = inUse.current().transaction('bulk', async (tx) => {
          await sql`insert into audit values (gen_random_uuid(), ${new Date(LEDGER_START_MS)}, ${ACME}, 's', 'slow', 'o', 'granted', '', 'c', '{}')`.execute(
            tx,
          )
          isWritten()
          await mayCommit
        })
        await written
        await ledger.write(ACME, 3)
        await ledger.settle(ledger.sealer)
        expect(await seals(ACME)).toHaveLength(3)
        commit()
        await slow
        await ledger.settle(ledger.sealer)
        expect(await seals(ACME)).toHaveLength(4)
        expect(await ledger.verify(ACME)).toMatchObject({ verdict: 'intact', verified_through: 4, unsealed: 0 })
      },
    )

    it('signs every thousandth row, and the newest at most a minute after the head before', async () => {
      await ledger.write(ACME, 3_500)
      await ledger.settle(ledger.sealer)
      expect(await heads()).toEqual([1000, 2000, 3000])
      await ledger.write(ACME, 1)
      ledger.clock.nowMs += 59_999
      await ledger.settle(ledger.sealer)
      expect(await heads()).toHaveLength(3)
      ledger.clock.nowMs += 1
      await ledger.settle(ledger.sealer)
      expect(await heads()).toEqual([1000, 2000, 3000, 3501])
      expect(await ledger.verify(ACME)).toMatchObject({ verdict: 'intact', signed_through: 3501, heads_verified: 4 })
    })

    it('loses and doubles nothing while many write and two seal', async () => {
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        for (let round = 0; round < 10; round++)
          await ledger.write([ACME, GLOBEX, null][(writer + round) % 3] ?? null, 25)
      })
      const writing = new AbortController()
      const sealing = [1, 2].map(async () => {
        while (!writing.signal.aborted) await ledger.sealer.run(ledger.leading)
      })
      await Promise.all(writers).finally(() => writing.abort())
      await Promise.all(sealing)
      await ledger.settle(ledger.sealer)
      const verified = await Promise.all([ACME, GLOBEX, null].map((domainId) => ledger.verify(domainId)))
      expect(verified.map(({ verdict, unsealed }) => [verdict, unsealed])).toEqual([
        ['intact', 0],
        ['intact', 0],
        ['intact', 0],
      ])
      expect(verified.reduce((sum, { verified_through }) => sum + verified_through, 0)).toBe(2_000)
      const { rows } = await sql<{ doubles: string }>`
        select count(*) - count(distinct audit_id) as doubles from audit_seals`.execute(ledger.db)
      expect(rows[0]?.doubles).toBe('0')
    })

    it('seals nothing once its term has ended, and the next leader goes on, while many write', async () => {
      const parts = await leaderParts(inUse.current(), LEDGER_START_MS)
      const writing = new AbortController()
      const writers = Promise.all(
        [ACME, GLOBEX, null, ACME].map(async (domainId) => {
          for (let round = 0; round < 15; round++) await ledger.write(domainId, 20)
        }),
      ).finally(() => writing.abort())
      const lost: unknown[] = []
      /** Seals until another one leads. */
      const reign = async (leading: Leading): Promise<void> => {
        try {
          for (;;) await ledger.sealer.run(leading)
        } catch (error) {
          lost.push(error)
        }
      }
      const reigns: Promise<void>[] = []
      while (!writing.signal.aborted) reigns.push(reign(await parts.lead()))
      await writers
      const last = await parts.lead()
      await Promise.all(reigns)
      parts.feed.stop()
      expect(lost.length).toBeGreaterThan(0)
      expect(lost.filter((error) => !(error instanceof LeadershipLost))).toEqual([])
      while (await ledger.sealer.run(last));
      const verified = await Promise.all([ACME, GLOBEX, null].map((domainId) => ledger.verify(domainId)))
      expect(verified.map(({ verdict, verified_through, unsealed }) => [verdict, verified_through, unsealed])).toEqual([
        ['intact', 600, 0],
        ['intact', 300, 0],
        ['intact', 300, 0],
      ])
    })

    it('goes on where it was killed, before or after any of its commits', async () => {
      for (let killedAt = 1; killedAt <= 6; killedAt++) {
        await ledger.write(ACME, 1_100)
        ledger.clock.nowMs += 60_000
        await ledger.sealer.run(dyingAt(ledger.leading, killedAt)).catch(() => undefined)
        expect(await ledger.verify(ACME)).toMatchObject({ verdict: 'intact' })
      }
      await ledger.settle(ledger.sealer)
      expect(await ledger.verify(ACME)).toMatchObject({
        verdict: 'intact',
        verified_through: 5_000,
        next_seq: 5_001,
      })
      expect(await ledger.verify(ACME, 5_001)).toMatchObject({
        verdict: 'intact',
        verified_through: 6_600,
        unsealed: 0,
      })
      expect(await heads()).toEqual(expect.arrayContaining([1000, 2000, 3000, 4000, 5000, 6000, 6600]))
    })

    it('says in the chain how many rows could not be written', async () => {
      await ledger.write(ACME, 1)
      await ledger.db
        .insertInto('audit_gaps')
        .values([
          { domain_id: ACME, row_count: 2 },
          { domain_id: ACME, row_count: 3 },
          { domain_id: null, row_count: 1 },
        ])
        .execute()
      await ledger.settle(ledger.sealer)
      const gaps = await ledger.db
        .selectFrom('audit')
        .select(['domain_id', 'subject', 'object', 'outcome', 'reason', 'context'])
        .where('relation', '=', 'audit.gap')
        .orderBy('domain_id')
        .execute()
      expect(gaps).toEqual([
        {
          domain_id: ACME,
          subject: 'system:audit-sealer',
          object: `domain:${ACME}`,
          outcome: 'internal_error',
          reason: 'write_failed',
          context: { count: 5 },
        },
        expect.objectContaining({ domain_id: null, object: 'platform:main', context: { count: 1 } }),
      ])
      expect(await ledger.verify(ACME)).toMatchObject({ verdict: 'intact', verified_through: 2, unsealed: 0 })
    })

    it('says in the chain how many rows were taken away before it came', async () => {
      await ledger.write(ACME, 3)
      await sql`delete from audit where id in (select id from audit order by id limit 2)`.execute(ledger.db)
      await ledger.settle(ledger.sealer)
      await ledger.settle(ledger.sealer)
      const gap = ledger.db.selectFrom('audit').select(['reason', 'context']).where('relation', '=', 'audit.gap')
      expect(await gap.execute()).toEqual([{ reason: 'vanished', context: { count: 2 } }])
      expect(await ledger.verify(ACME)).toMatchObject({ verdict: 'intact', verified_through: 2 })
    })

    it('counts what waits for it', async () => {
      await ledger.write(ACME, 700)
      await ledger.write(null, 1)
      expect(await ledger.verify(ACME)).toMatchObject({
        verdict: 'intact',
        rows: 0,
        verified_through: 0,
        unsealed: 700,
      })
    })

    it.each<[string, (db: Ledger['db']) => Promise<unknown>, string, number]>([
      [
        'a member altered',
        (db) =>
          sql`update audit set subject = 'user:mallory' where id = (select audit_id from audit_seals where seq = 4)`.execute(
            db,
          ),
        'row_altered',
        4,
      ],
      [
        'the context altered',
        (db) =>
          sql`update audit set context = context || '{"item_count": 4}' where id = (select audit_id from audit_seals where seq = 4)`.execute(
            db,
          ),
        'row_altered',
        4,
      ],
      [
        'a row deleted',
        (db) => sql`delete from audit where id = (select audit_id from audit_seals where seq = 4)`.execute(db),
        'row_missing',
        4,
      ],
      [
        'a row deleted with its seal',
        (db) =>
          sql`with gone as (delete from audit_seals where seq = 4 returning audit_id) delete from audit using gone where id = audit_id`.execute(
            db,
          ),
        'row_missing',
        4,
      ],
      [
        'two rows exchanged',
        (db) =>
          sql`update audit_seals set audit_id = other.audit_id from audit_seals as other where audit_seals.seq + other.seq = 9 and audit_seals.seq in (4, 5)`.execute(
            db,
          ),
        'row_altered',
        4,
      ],
      ['the last rows deleted', (db) => sql`delete from audit_seals where seq > 4`.execute(db), 'rows_cut_off', 5],
      [
        'the last rows deleted and the chain set back',
        async (db) => {
          await sql`update audit_chains set sealed_seq = 4, sealed_hash = (select hash from audit_seals where seq = 4)`.execute(
            db,
          )
          await sql`delete from audit_seals where seq > 4`.execute(db)
        },
        'rows_cut_off',
        5,
      ],
      [
        'a head altered',
        (db) => sql`update audit_heads set signature = decode(repeat('00', 64), 'hex')`.execute(db),
        'bad_signature',
        6,
      ],
    ])('leaves a chain that shows %s', async (_what, tamper, reason, seq) => {
      await ledger.write(ACME, 6)
      await ledger.settle(ledger.sealer)
      await tamper(ledger.db)
      expect(await ledger.verify(ACME)).toMatchObject({ verdict: 'broken', first_bad: { seq, reason }, next_seq: null })
    })

    it('refuses to go on beyond the row that comes next', async () => {
      await ledger.write(ACME, 2)
      await ledger.settle(ledger.sealer)
      expect(await ledger.verify(ACME, 3)).toMatchObject({ verdict: 'intact', rows: 0, verified_through: 2 })
      await expect(ledger.verify(ACME, 4)).rejects.toMatchObject({ code: 'invalid_audit_filter' })
    })

    it('keeps rows of the same content apart', async () => {
      expect(auditEntry(ACME)).toEqual(auditEntry(ACME))
      await ledger.write(ACME, 2)
      await ledger.settle(ledger.sealer)
      const { rows } = await sql<{ hashes: string }>`select count(distinct hash) as hashes from audit_seals`.execute(
        ledger.db,
      )
      expect(rows[0]?.hashes).toBe('2')
    })
  })
})

/** A leader that dies at its n-th step: odd ones before a transaction begins, even ones when it has done its work and not committed. */
function dyingAt(leading: Leading, step: number): Leading {
  let steps = 0
  const dieAt = (): void => {
    steps += 1
    if (steps === step) throw new Error('killed')
  }
  return {
    ...leading,
    transaction: async (work) => {
      dieAt()
      return leading.transaction(async (tx) => {
        const result = await work(tx)
        dieAt()
        return result
      })
    },
  }
}
