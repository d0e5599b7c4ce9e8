import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { DatastoreError, type Db } from '../../src/server/ports/datastore.ts'
import { type TestStore, useDatastore } from '../support/datastores/stores.ts'
import { gate } from '../support/run/gate.ts'

/** What every datastore promises its callers (`ports/datastore.ts`). */
export function datastoreContract(store: TestStore): void {
  describe.skipIf(store.missing)(`the ${store.name} datastore`, () => {
    const inUse = useDatastore(store)
    const db = () => inUse.current().pool('interactive')
    const count = async (on: Db = db()) => {
      const { rows } = await sql<{ count: number }>`select count(*)::int as count from item`.execute(on)
      return rows[0]?.count
    }
    const add = (on: Db, id: number) => sql`insert into item (id) values (${id})`.execute(on)

    beforeEach(async () => {
      await sql
        .raw(
          `drop table if exists item;
           create table item (
             id integer constraint item_pkey primary key,
             slug text constraint item_slug_key unique,
             parent integer constraint item_parent_fkey references item,
             size integer constraint item_size_check check (size > 0),
             taken int4range,
             constraint item_taken_excl exclude using gist (taken with &&)
           )`,
        )
        .execute(db())
    })

    describe('a transaction', () => {
      test('is kept when its work resolves, and gives its result', async () => {
        const result = await inUse.current().transaction('interactive', async (tx) => {
          await add(tx, 1)
          return 'done'
        })
        expect(result).toBe('done')
        expect(await count()).toBe(1)
      })

      test('leaves nothing when its work rejects, and passes the error on', async () => {
        const reason = new Error('changed my mind')
        const work = inUse.current().transaction('interactive', async (tx) => {
          await add(tx, 1)
          throw reason
        })
        await expect(work).rejects.toBe(reason)
        expect(await count()).toBe(0)
      })

      test('rejects when a failed statement within it was ignored, since nothing was written', async () => {
        const work = inUse.current().transaction('interactive', async (tx) => {
          await add(tx, 1)
          await add(tx, 1).catch(() => undefined)
        })
        await expect(work).rejects.toThrow('the transaction was rolled back: a failed statement within it was ignored')
        expect(await count()).toBe(0)
      })

      test('is READ COMMITTED', async () => {
        const { rows } = await inUse
          .current()
          .transaction('worker', (tx) => sql`show transaction_isolation`.execute(tx))
        expect(rows).toEqual([{ transaction_isolation: 'read committed' }])
      })

      test('takes statements that were not awaited one by one', async () => {
        await inUse.current().transaction('interactive', async (tx) => {
          await Promise.all([add(tx, 1), add(tx, 2), add(tx, 3)])
        })
        expect(await count()).toBe(3)
      })

      test('runs beside and after others without losing any', async () => {
        const ids = Array.from({ length: 40 }, (_, index) => index)
        await Promise.all(ids.map((id) => inUse.current().transaction('interactive', (tx) => add(tx, id))))
        expect(await count()).toBe(40)
      })

      test('keeps to itself what others ask meanwhile, however it and they end', async () => {
        await sql`alter table item alter constraint item_parent_fkey deferrable initially deferred`.execute(db())
        const kept = async (id: number, tx: Db) => void (await Promise.all([add(tx, id), add(tx, id + 1), count(tx)]))
        const endings = [
          kept,
          async (id: number, tx: Db) => {
            await add(tx, id)
            throw new Error('rolled back')
          },
          async (id: number, tx: Db) => {
            await add(tx, id)
            await add(tx, id).catch(() => undefined)
          },
          // Its commit fails.
          async (id: number, tx: Db) => void (await sql`insert into item (id, parent) values (${id}, -1)`.execute(tx)),
        ]
        const ids = Array.from({ length: 40 }, (_, index) => index * 10)
        const transactions = ids.map((id, index) =>
          inUse.current().transaction('interactive', (tx) => endings[index % endings.length]?.(id, tx) ?? kept(id, tx)),
        )
        // One of two fails.
        const statements = ids.flatMap((id) => [add(db(), id + 2), count(), add(db(), id + 2)])
        const [outcomes] = await Promise.all([Promise.allSettled(transactions), Promise.allSettled(statements)])
        const fulfilled = ids.filter((_, index) => outcomes[index]?.status === 'fulfilled')
        expect(fulfilled).toEqual(ids.filter((_, index) => index % endings.length === 0))
        const expected = ids.flatMap((id) => (fulfilled.includes(id) ? [id, id + 1, id + 2] : [id + 2]))
        const { rows } = await sql<{ id: number }>`select id from item order by id`.execute(db())
        expect(rows.map(({ id }) => id)).toEqual(expected)
      })

      test('honours isolation level and access mode where Kysely sets them', async () => {
        const snapshot = db().transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
        const settings = await snapshot.execute((tx) =>
          sql`select current_setting('transaction_isolation') as isolation,
                     current_setting('transaction_read_only') as read_only`.execute(tx),
        )
        expect(settings.rows).toEqual([{ isolation: 'repeatable read', read_only: 'on' }])
        await expect(snapshot.execute((tx) => add(tx, 1))).rejects.toMatchObject({ failure: 'readonly' })
      })

      test('goes back to a savepoint and on from there', async () => {
        const tx = await db().startTransaction().execute()
        await add(tx, 1)
        const marked = await tx.savepoint('before').execute()
        await add(marked, 2)
        await expect(add(marked, 2)).rejects.toMatchObject({ failure: 'unique' })
        const back = await marked.rollbackToSavepoint('before').execute()
        await add(back, 3)
        const released = await back.releaseSavepoint('before').execute()
        await released.commit().execute()
        expect((await sql`select id from item order by id`.execute(db())).rows).toEqual([{ id: 1 }, { id: 3 }])
      })
    })

    describe('a query through a pool while a transaction is open on the same path', () => {
      const mistake = /a query through the pool while a transaction is open on the same path/

      test.each(['interactive', 'worker', 'bulk'] as const)('throws on the %s pool', async (pool) => {
        const work = inUse.current().transaction('interactive', async (tx) => {
          await add(tx, 1)
          await count(inUse.current().pool(pool))
        })
        await expect(work).rejects.toThrow(mistake)
        expect(await count()).toBe(0)
      })

      test('throws for a second transaction as well', async () => {
        const { transaction } = inUse.current()
        await expect(transaction('interactive', () => transaction('bulk', (tx) => count(tx)))).rejects.toThrow(mistake)
      })

      test('is allowed again once the transaction has ended, for what it left running too', async () => {
        const ended = gate()
        let left: Promise<unknown> | undefined
        await inUse.current().transaction('interactive', async (tx) => {
          await add(tx, 1)
          left = ended.passed.then(() => count())
        })
        ended.open()
        expect(await left).toBe(1)
      })
    })

    describe('an error', () => {
      test('of a unique constraint names it', async () => {
        await sql`insert into item (id, slug) values (1, 'a')`.execute(db())
        const error: unknown = await sql`insert into item (id, slug) values (2, 'a')`
          .execute(db())
          .catch((reason: unknown) => reason)
        expect(error).toBeInstanceOf(DatastoreError)
        expect(error).toMatchObject({ failure: 'unique', constraint: 'item_slug_key' })
      })

      test('of an exclusion constraint names it', async () => {
        await sql`insert into item (id, taken) values (1, '[1,3]')`.execute(db())
        const write = sql`insert into item (id, taken) values (2, '[3,4]')`.execute(db())
        await expect(write).rejects.toMatchObject({ failure: 'unique', constraint: 'item_taken_excl' })
      })

      test.each([
        ['a foreign key', 'insert into item (id, parent) values (1, 7)', 'item_parent_fkey'],
        ['a check', 'insert into item (id, size) values (1, 0)', 'item_size_check'],
        ['a missing value', 'insert into item (slug) values (1)', undefined],
      ])('of %s is a refused row', async (_, statement, constraint) => {
        await expect(sql.raw(statement).execute(db())).rejects.toMatchObject({ failure: 'constraint', constraint })
      })

      test('that no caller can act on stays what it was', async () => {
        const error: unknown = await sql`select nothing`.execute(db()).catch((reason: unknown) => reason)
        expect(error).not.toBeInstanceOf(DatastoreError)
        expect(error).toMatchObject({ code: '42703' })
      })

      test('leaves the session usable', async () => {
        await expect(sql`select 1 / 0`.execute(db())).rejects.toThrow('division by zero')
        await add(db(), 1)
        expect(await count()).toBe(1)
      })
    })

    test('values come back in the types of the port', async () => {
      const bytes = Buffer.from([0, 1, 254, 255])
      const at = new Date('2026-03-01T08:09:10.123Z')
      const { rows } = await sql`
        select ${'9007199254740993'}::bigint as int8, ${7}::int as int4, ${1.5}::float8 as float8,
               ${'12.30'}::numeric as numeric, ${bytes}::bytea as bytes, ${at}::timestamptz as at,
               ${JSON.stringify({ a: [1, null] })}::jsonb as json, 'null'::jsonb as json_null,
               ${'018f0000-0000-7000-8000-00000000000a'}::uuid as id, ${'100.64.0.1'}::inet as address,
               ${'100.64.0.0/10'}::cidr as network, ${['a', 'b"c', null]}::text[] as texts,
               ${['1', '2']}::bigint[] as int8s, ${[bytes]}::bytea[] as blobs, ${[at]}::timestamptz[] as instants,
               true as yes, null::text as nothing, ''::text as empty`.execute(db())
      expect(rows).toEqual([
        {
          int8: '9007199254740993',
          int4: 7,
          float8: 1.5,
          numeric: '12.30',
          bytes,
          at,
          json: { a: [1, null] },
          json_null: null,
          id: '018f0000-0000-7000-8000-00000000000a',
          address: '100.64.0.1',
          network: '100.64.0.0/10',
          texts: ['a', 'b"c', null],
          int8s: ['1', '2'],
          blobs: [bytes],
          instants: [at],
          yes: true,
          nothing: null,
          empty: '',
        },
      ])
      expect(Buffer.isBuffer((rows[0] as { bytes: unknown }).bytes)).toBe(true)
    })

    test('a statement tells how many rows it changed', async () => {
      await sql`insert into item (id) select generate_series(1, 5)`.execute(db())
      const updated = await sql`update item set size = 1 where id > 2`.execute(db())
      expect(updated.numAffectedRows).toBe(3n)
    })

    test('a statement used again and again answers for its own values', async () => {
      const answers: unknown[] = []
      for (let round = 0; round < 8; round++) {
        const { rows } = await sql<{ doubled: number }>`select ${round}::int * 2 as doubled`.execute(db())
        answers.push(rows[0]?.doubled)
      }
      expect(answers).toEqual([0, 2, 4, 6, 8, 10, 12, 14])
    })

    test('large rows pass whole, both ways', async () => {
      const text = 'ü'.repeat(1_000_000)
      const { rows } = await sql<{ text: string }>`select ${text}::text || ${'!'} as text`.execute(db())
      expect(rows[0]?.text === `${text}!`).toBe(true)
    })

    test('a ping resolves', async () => {
      await expect(inUse.current().ping(2_000)).resolves.toBeUndefined()
    })
  })

  describe.skipIf(store.missing)(`deadlines of the ${store.name} datastore`, () => {
    const inUse = useDatastore(store, { statementDeadlinesMs: { interactive: 300, worker: 20_000 } })

    test('a statement past its deadline is unavailable, and the next one is answered', async () => {
      const { current } = inUse
      const slow = sql`select pg_sleep(1.2)`.execute(current().pool('interactive'))
      await expect(slow).rejects.toMatchObject({ name: 'DatastoreError', failure: 'unavailable' })
      const { rows } = await sql`select 1 as one`.execute(current().pool('worker'))
      expect(rows).toEqual([{ one: 1 }])
    })

    test('a transaction past its deadline leaves nothing', async () => {
      const { current } = inUse
      const domain = { purpose: 'sealing', sealed: Buffer.alloc(1), created_at: new Date(0), retired_at: null }
      const work = current().transaction('interactive', async (tx) => {
        await tx
          .insertInto('keyring')
          .values({ key_id: 'k', ...domain })
          .execute()
        await sql`select pg_sleep(1.2)`.execute(tx)
      })
      await expect(work).rejects.toMatchObject({ failure: 'unavailable' })
      expect(await current().pool('worker').selectFrom('keyring').select('key_id').execute()).toEqual([])
    })

    test('a ping that gets no turn in time is unavailable', async () => {
      const { current } = inUse
      const busy = Array.from({ length: 20 }, () => sql`select pg_sleep(0.25)`.execute(current().pool('interactive')))
      const ping = current().ping(50)
      await expect(ping).rejects.toMatchObject({ failure: 'unavailable' })
      await Promise.allSettled(busy)
    })
  })

  // On the embedded store transactions take turns, so that none ever waits for another's lock.
  describe.skipIf(store.name === 'embedded' || store.missing)(`deadlocks on the ${store.name} datastore`, () => {
    const inUse = useDatastore(store)

    test('the victim is tried once more, and both transactions are kept', async () => {
      const db = inUse.current().pool('interactive')
      await sql
        .raw('create table row (id integer primary key, n integer not null); insert into row values (1, 0), (2, 0)')
        .execute(db)
      const hold = [gate(), gate()] as const
      let attempts = 0
      const bump = (first: 0 | 1) =>
        inUse.current().transaction('interactive', async (tx) => {
          attempts += 1
          await sql`update row set n = n + 1 where id = ${first + 1}`.execute(tx)
          hold[first].open()
          await hold[first === 0 ? 1 : 0].passed
          await sql`update row set n = n + 1 where id = ${first === 0 ? 2 : 1}`.execute(tx)
        })
      await Promise.all([bump(0), bump(1)])
      expect(attempts).toBe(3)
      expect((await sql`select id, n from row order by id`.execute(db)).rows).toEqual([
        { id: 1, n: 2 },
        { id: 2, n: 2 },
      ])
    })
  })

  describe.skipIf(store.missing)(`a closed ${store.name} datastore`, () => {
    const inUse = useDatastore(store)

    test('has finished what was begun before, refuses what comes after, and may be closed again', async () => {
      const { pool, transaction, close } = inUse.current()
      const begun = gate()
      const closing = gate()
      const work = transaction('interactive', async (tx) => {
        begun.open()
        await closing.passed
        return (await sql`select 1 as one`.execute(tx)).rows
      })
      await begun.passed
      const closed = close()
      closing.open()
      expect(await work).toEqual([{ one: 1 }])
      await closed
      await expect(sql`select 1`.execute(pool('interactive'))).rejects.toMatchObject({ failure: 'unavailable' })
      await close()
    })
  })
}
