import { createSecretKey, randomBytes } from 'node:crypto'
import type { MasterKeySource } from '../../ports/master-key-source.ts'
import { randomBase62 } from '../../../shared/base62.ts'
import { BootError } from '../../ports/boot-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { KeyPurpose, SealingKey } from '../../ports/keyring.ts'
import { makeMasterKey, nextPathOf, readMasterKey, readNextKey } from './master-key.ts'
import { KEY_PURPOSES, type Ring, type RingKey } from './ring.ts'
import { lockRing, storedRows, unwrapKey, wrapKey, wrappedUnder, wraps, type KeyringRow } from './stored-ring.ts'

/**
 * Finds the master key and verifies it against the stored ring, before anything is written: call it ahead of migrations.
 * Where nothing is sealed yet and the server must create the key, it is created here. Where the ring is wrapped by the
 * key that a rotation left beside the old one, that one is used, and `warn` is called.
 *
 * @throws BootError naming both key ids when the ring is sealed under another master key.
 */
export async function proveMasterKey(
  db: Db,
  source: MasterKeySource,
  warn: (message: string) => void = () => undefined,
): Promise<SealingKey> {
  const rows = await storedRows(db)
  if (rows.length === 0) return unprovenKey(source)
  const { key, isNext } = fittingKey(source, rows)
  if (isNext) warn(cutOffSentence(source, key))
  for (const row of rows) unwrapKey(key, row)
  return key
}

/** Nothing is sealed yet, so no key can be verified. */
function unprovenKey(source: MasterKeySource): SealingKey {
  const given = readMasterKey(source)
  if (given !== undefined) return given
  if (source.kind === 'own') return makeMasterKey(source.path)
  throw new Error(`a master key of the kind ${source.kind} is there or refused`)
}

/** The master key that wraps a ring: the one by the configuration, or the one beside it. */
interface FittingKey {
  readonly key: SealingKey
  /** An interrupted rotation left it beside the old one. */
  readonly isNext: boolean
}

/** Finds it. @throws BootError naming the required key. */
export function fittingKey(source: MasterKeySource, rows: readonly KeyringRow[]): FittingKey {
  const given = readMasterKey(source)
  if (given !== undefined && wraps(given, rows)) return { key: given, isNext: false }
  const next = readNextKey(source)
  if (next !== undefined && wraps(next, rows)) return { key: next, isNext: true }
  if (given !== undefined) for (const row of rows) unwrapKey(given, row)
  throw new BootError(
    1,
    `The keys of this datastore are sealed under master key ${wrappedUnder(rows[0])}, and there is none at ${pathOf(source)}; put it back, or give it in SERVICE_MASTER_KEY.`,
  )
}

function cutOffSentence(source: MasterKeySource, { id }: SealingKey): string {
  return `A rotation of the master key was cut off: the keyring is wrapped under ${id} of ${nextPathOf(source)}, which is used instead of ${pathOf(source)}; run ctl admin master-key rotate to finish it.`
}

/** Whether nothing is sealed yet: no ctl server has ever started on this datastore. */
export async function isUnsealed(db: Db): Promise<boolean> {
  return (await storedRows(db)).length === 0
}

/** Opens the ring, adding a random key for each purpose that has no current one. The tables must be there. */
export async function openRing(datastore: Datastore, master: SealingKey, clock: Clock): Promise<Ring> {
  return datastore.transaction('worker', async (tx) => {
    await lockRing(tx)
    const rows = await storedRows(tx)
    const kept = rows.map((row) => ringKeyOf(row, unwrapKey(master, row)))
    const current = new Set(rows.filter((row) => row.retired_at === null).map((row) => row.purpose))
    const missing = KEY_PURPOSES.filter((purpose) => !current.has(purpose)).map(freshKey)
    if (missing.length > 0) {
      const createdAt = new Date(clock.now())
      const added = missing.map((key) => ({
        key_id: key.id,
        purpose: key.purpose,
        sealed: wrapKey(master, { key_id: key.id, purpose: key.purpose }, key.secret.export()),
        created_at: createdAt,
        retired_at: null,
      }))
      await tx.insertInto('keyring').values(added).execute()
    }
    return ringOf([...missing, ...kept])
  })
}

function freshKey(purpose: KeyPurpose): RingKey {
  return { id: randomBase62(8), purpose, secret: createSecretKey(randomBytes(32)) }
}

function ringKeyOf(row: KeyringRow, bytes: Buffer): RingKey {
  // The purpose is authenticated with the bytes.
  return { id: row.key_id, purpose: row.purpose as KeyPurpose, secret: createSecretKey(bytes) }
}

function ringOf(keys: readonly RingKey[]): Ring {
  const entries = KEY_PURPOSES.map((purpose) => [purpose, keys.filter((key) => key.purpose === purpose)])
  return Object.fromEntries(entries) as Ring // Each purpose has a key: the missing ones were just added.
}

function pathOf(source: MasterKeySource): string {
  return 'path' in source ? source.path : source.kind
}
