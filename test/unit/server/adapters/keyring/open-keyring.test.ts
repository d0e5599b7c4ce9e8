import { createHmac } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { MasterKeySource } from '../../../../../src/server/ports/master-key-source.ts'
import { masterKeyOf } from '../../../../../src/server/adapters/keyring/master-key.ts'
import { openRing, proveMasterKey } from '../../../../../src/server/adapters/keyring/open-keyring.ts'
import { createKeyring, createSealing } from '../../../../../src/server/adapters/keyring/ring.ts'
import { openPglite } from '../../../../../src/server/adapters/pglite/database.ts'
import { BootError } from '../../../../../src/server/ports/boot-error.ts'
import { dropEverything, emptyTables } from '../../../../support/datastores/empty-tables.ts'
import { STORES, useDatastore } from '../../../../support/datastores/stores.ts'

const folder = mkdtempSync(join(tmpdir(), 'ctl-ring-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const CLOCK = { now: () => Date.UTC(2026, 0, 1) }
const BYTES = Buffer.alloc(32, 7)
const GIVEN: MasterKeySource = { kind: 'given', key: BYTES }
const OTHER: MasterKeySource = { kind: 'given', key: Buffer.alloc(32, 8) }

describe.each(STORES)('on $name', (store) => {
  describe.skipIf(store.missing)('the keyring', () => {
    const inUse = useDatastore(store)
    beforeEach(() => emptyTables(inUse.current()))

    const prove = (source: MasterKeySource) => proveMasterKey(inUse.current().pool('interactive'), source)

    test('is filled once with a key for each purpose and opens to the same keys', async () => {
      const first = createKeyring(await openRing(inUse.current(), await prove(GIVEN), CLOCK))
      const second = createKeyring(await openRing(inUse.current(), await prove(GIVEN), CLOCK))
      for (const purpose of ['cursor', 'fingerprint', 'pseudonym', 'sealing', 'session'] as const) {
        expect(first.keyIds(purpose)).toHaveLength(1)
        expect(second.keyIds(purpose)).toEqual(first.keyIds(purpose))
        expect(second.mac(purpose, 'data')).toEqual(first.mac(purpose, 'data'))
      }
      const macs = (['cursor', 'fingerprint', 'session'] as const).map((purpose) =>
        first.mac(purpose, 'x').mac.toString('hex'),
      )
      expect(new Set(macs).size).toBe(3)
    })

    test('two replicas that start at once share one ring', async () => {
      const rings = await Promise.all([1, 2, 3].map(() => openRing(inUse.current(), masterKeyOf(BYTES), CLOCK)))
      expect(new Set(rings.map((ring) => ring.fingerprint[0].id)).size).toBe(1)
    })

    test('a wrong master key stops the start, names both keys and changes nothing', async () => {
      await openRing(inUse.current(), await prove(GIVEN), CLOCK)
      const before = await inUse.current().pool('interactive').selectFrom('keyring').selectAll().execute()
      await expect(prove(OTHER)).rejects.toThrow(
        new BootError(
          1,
          `The keys of this datastore are sealed under master key ${masterKeyOf(BYTES).id}, not under ${masterKeyOf(Buffer.alloc(32, 8)).id}, which is the one given; give the right one in SERVICE_MASTER_KEY or --master-key-file.`,
        ),
      )
      expect(await inUse.current().pool('interactive').selectFrom('keyring').selectAll().execute()).toEqual(before)
    })

    test('a lost key file stops the start and no new one is made', async () => {
      await openRing(inUse.current(), await prove(GIVEN), CLOCK)
      const path = join(folder, `lost-${store.name}.key`)
      await expect(prove({ kind: 'own', path })).rejects.toThrow(
        `sealed under master key ${masterKeyOf(BYTES).id}, and there is none at ${path}; put it back`,
      )
      expect(existsSync(path)).toBe(false)
    })

    test('its own master key is made while nothing is sealed, and found again', async () => {
      const path = join(folder, `own-${store.name}.key`)
      const made = await prove({ kind: 'own', path })
      await openRing(inUse.current(), made, CLOCK)
      expect((await prove({ kind: 'own', path })).id).toBe(made.id)
    })

    test('a row whose purpose was changed does not open', async () => {
      await openRing(inUse.current(), await prove(GIVEN), CLOCK)
      await sql`update keyring set purpose = 'session' where purpose = 'cursor'`.execute(
        inUse.current().pool('interactive'),
      )
      await expect(prove(GIVEN)).rejects.toThrow('the row was altered; restore it from a backup')
    })

    test('retired keys still verify and open, and the current one comes first', async () => {
      const master = await prove(GIVEN)
      const old = await openRing(inUse.current(), master, CLOCK)
      const place = { table: 'nodes', column: 'psk_sealed', rowId: 'n1' }
      const sealed = await createSealing(old).seal(place, Buffer.from('secret'))
      await sql`update keyring set retired_at = now() where purpose in ('sealing', 'fingerprint')`.execute(
        inUse.current().pool('interactive'),
      )
      const ring = await openRing(inUse.current(), master, CLOCK)
      const keyring = createKeyring(ring)
      expect(keyring.keyIds('fingerprint')).toEqual([expect.any(String), old.fingerprint[0].id])
      expect(keyring.macWith('fingerprint', old.fingerprint[0].id, 'x')).toEqual(
        createHmac('sha256', old.fingerprint[0].secret).update('x').digest(),
      )
      expect(keyring.macWith('session', old.fingerprint[0].id, 'x')).toBeUndefined()
      expect(await createSealing(ring).open(place, sealed)).toEqual(Buffer.from('secret'))
    })

    test('bytes sealed under a key that the ring does not have do not open', async () => {
      const ring = await openRing(inUse.current(), await prove(GIVEN), CLOCK)
      const place = { table: 'nodes', column: 'psk_sealed', rowId: 'n1' }
      const sealed = Buffer.from(await createSealing(ring).seal(place, Buffer.from('secret')))
      sealed.write('zzzzzzzz', 2, 'ascii')
      expect(() => createSealing(ring).open(place, sealed)).toThrow('nothing opens bytes sealed under key zzzzzzzz')
    })
  })
})

test('a datastore without tables asks for no proof', async () => {
  const empty = await openPglite({ dataDir: undefined })
  try {
    await dropEverything(empty)
    expect((await proveMasterKey(empty.pool('interactive'), GIVEN)).id).toBe(masterKeyOf(BYTES).id)
    const { rows } = await sql`select 1 from pg_tables where schemaname = 'public'`.execute(empty.pool('interactive'))
    expect(rows).toEqual([])
  } finally {
    await empty.close()
  }
})
