import { createSecretKey, randomBytes } from 'node:crypto'
import { sql, type Selectable } from 'kysely'
import { randomBase62 } from '../../../shared/base62.ts'
import { BootError } from '../../boot-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { KeyPurpose, SealedPlace } from '../../ports/keyring.ts'
import type { Tables } from '../../ports/tables.ts'
import { makeMasterKey, readMasterKey, type MasterKeySource } from './master-key.ts'
import { KEY_PURPOSES, type Ring, type RingKey } from './ring.ts'
import { openBytes, sealBytes, sealedUnder, type SealingKey } from './sealed-bytes.ts'

type KeyringRow = Selectable<Tables['keyring']>

/** Serialises the first fill of the ring between replicas. */
const FILL_LOCK = 0x63746c_01

/**
 * Finds the master key and proves it against the stored ring, before anything is written: call it ahead of migrations.
 * Where nothing is sealed yet and the key is to be the server's own, it is made here.
 *
 * @throws BootError naming both key ids when the ring is sealed under another master key.
 */
export async function proveMasterKey(db: Db, source: MasterKeySource): Promise<SealingKey> {
  const rows = await storedRows(db)
  const given = readMasterKey(source)
  if (given !== undefined) {
    for (const row of rows) unwrap(given, row)
    return given
  }
  const [first] = rows
  if (first === undefined && source.kind === 'own') return makeMasterKey(source.path)
  throw new BootError(
    1,
    `The keys of this datastore are sealed under master key ${idOf(first)}, and there is none at ${pathOf(source)}; put it back, or give it in SERVICE_MASTER_KEY.`,
  )
}

/** Whether nothing is sealed yet: no server of ours has ever started on this datastore. */
export async function isUnsealed(db: Db): Promise<boolean> {
  return (await storedRows(db)).length === 0
}

/** Opens the ring, adding a random key for each purpose that has no current one. The tables must be there. */
export async function openRing(datastore: Datastore, master: SealingKey, clock: Clock): Promise<Ring> {
  return datastore.transaction('worker', async (tx) => {
    await sql`select pg_advisory_xact_lock(${FILL_LOCK}::bigint)`.execute(tx)
    const rows = await allRows(tx)
    const current = new Set(rows.filter((row) => row.retired_at === null).map((row) => row.purpose))
    const missing = KEY_PURPOSES.filter((purpose) => !current.has(purpose)).map(freshKey)
    if (missing.length > 0) {
      const createdAt = new Date(clock.now())
      const added = missing.map((key) => ({
        key_id: key.id,
        purpose: key.purpose,
        sealed: sealBytes(master, placeOf(key.id, key.purpose), key.secret.export()),
        created_at: createdAt,
        retired_at: null,
      }))
      await tx.insertInto('keyring').values(added).execute()
    }
    return ringOf([...missing, ...rows.map((row) => unwrap(master, row))])
  })
}

function freshKey(purpose: KeyPurpose): RingKey {
  return { id: randomBase62(8), purpose, secret: createSecretKey(randomBytes(32)) }
}

/** Rows of a datastore that may have no tables yet. */
async function storedRows(db: Db): Promise<KeyringRow[]> {
  const { rows } = await sql<{ found: boolean }>`select to_regclass('keyring') is not null as found`.execute(db)
  return rows[0]?.found === true ? allRows(db) : []
}

/** Current keys first, then the newest. */
function allRows(db: Db): Promise<KeyringRow[]> {
  return db
    .selectFrom('keyring')
    .selectAll()
    .orderBy(sql`retired_at is not null`)
    .orderBy('created_at', 'desc')
    .execute()
}

function unwrap(master: SealingKey, row: KeyringRow): RingKey {
  const sealedBy = idOf(row)
  if (sealedBy !== master.id)
    throw new BootError(
      1,
      `The keys of this datastore are sealed under master key ${sealedBy}, not under ${master.id}, which is the one given; give the right one in SERVICE_MASTER_KEY or --master-key-file.`,
    )
  try {
    const secret = createSecretKey(openBytes(master, placeOf(row.key_id, row.purpose), row.sealed))
    return { id: row.key_id, purpose: row.purpose as KeyPurpose, secret }
  } catch (error) {
    throw new BootError(
      1,
      `Key ${row.key_id} of the keyring does not open under master key ${master.id}: the row was altered; restore it from a backup.`,
      error,
    )
  }
}

/** The purpose is part of the place: a cursor key cannot be passed off as a sealing key. */
function placeOf(keyId: string, purpose: string): SealedPlace {
  return { table: 'keyring', column: 'sealed', rowId: `${purpose}/${keyId}` }
}

function ringOf(keys: readonly RingKey[]): Ring {
  const entries = KEY_PURPOSES.map((purpose) => [purpose, keys.filter((key) => key.purpose === purpose)])
  return Object.fromEntries(entries) as Ring // Each purpose has a key: the missing ones were just added.
}

function idOf(row: KeyringRow | undefined): string {
  return (row && sealedUnder(row.sealed)) ?? '(none)'
}

function pathOf(source: MasterKeySource): string {
  return 'path' in source ? source.path : source.kind
}
