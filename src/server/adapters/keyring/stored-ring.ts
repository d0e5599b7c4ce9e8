import { sql, type Selectable } from 'kysely'
import { BootError } from '../../ports/boot-error.ts'
import type { Db } from '../../ports/datastore.ts'
import type { SealedPlace, SealingKey } from '../../ports/keyring.ts'
import type { Tables } from '../../ports/tables/tables.ts'
import { openBytes, sealBytes, sealedUnder } from './sealed-bytes.ts'

/** A key of the ring as stored, wrapped by the master key. */
export type KeyringRow = Selectable<Tables['keyring']>

/** Serialises writes of the ring: its creation, and a rotation. */
const RING_LOCK = 0x63746c_01

/** Blocks every other writer of the ring until the transaction ends. */
export async function lockRing(tx: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(${RING_LOCK}::bigint)`.execute(tx)
}

/** The rows, current keys first, then the newest; none where the datastore has no tables yet. */
export async function storedRows(db: Db): Promise<KeyringRow[]> {
  const { rows } = await sql<{ found: boolean }>`select to_regclass('keyring') is not null as found`.execute(db)
  if (rows[0]?.found !== true) return []
  return db
    .selectFrom('keyring')
    .selectAll()
    .orderBy(sql`retired_at is not null`)
    .orderBy('created_at', 'desc')
    .execute()
}

/** Whether this master key wraps the whole ring. */
export function wraps(master: SealingKey, rows: readonly KeyringRow[]): boolean {
  return rows.every((row) => sealedUnder(row.sealed) === master.id)
}

/** The id of the master key that wraps the row. */
export function wrappedUnder(row: KeyringRow | undefined): string {
  return (row && sealedUnder(row.sealed)) ?? '(none)'
}

/** Wraps the bytes of a key for its row. */
export function wrapKey(master: SealingKey, row: Pick<KeyringRow, 'key_id' | 'purpose'>, bytes: Uint8Array): Buffer {
  return sealBytes(master, placeOf(row), bytes)
}

/** Opens the bytes of a key. @throws BootError in one sentence when they are wrapped under another key, or altered. */
export function unwrapKey(master: SealingKey, row: KeyringRow): Buffer {
  const sealedBy = wrappedUnder(row)
  if (sealedBy !== master.id)
    throw new BootError(
      1,
      `The keys of this datastore are sealed under master key ${sealedBy}, not under ${master.id}, which is the one given; give the right one in SERVICE_MASTER_KEY or --master-key-file.`,
    )
  try {
    return openBytes(master, placeOf(row), row.sealed)
  } catch (error) {
    throw new BootError(
      1,
      `Key ${row.key_id} of the keyring does not open under master key ${master.id}: the row was altered; restore it from a backup.`,
      error,
    )
  }
}

/** Wraps every key of the ring under another master key. The caller holds the lock. */
export async function rewrapRing(tx: Db, rows: readonly KeyringRow[], keys: MasterKeyChange): Promise<void> {
  for (const row of rows) {
    const sealed = wrapKey(keys.to, row, unwrapKey(keys.from, row))
    await tx.updateTable('keyring').set({ sealed }).where('key_id', '=', row.key_id).execute()
  }
}

/** The master key that wraps the ring, and its successor. */
export interface MasterKeyChange {
  readonly from: SealingKey
  readonly to: SealingKey
}

/** The purpose is part of the place: a cursor key cannot be passed off as a sealing key. */
function placeOf({ key_id: keyId, purpose }: Pick<KeyringRow, 'key_id' | 'purpose'>): SealedPlace {
  return { table: 'keyring', column: 'sealed', rowId: `${purpose}/${keyId}` }
}
