import { createHash } from 'node:crypto'
import { sql, type Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { Tables } from '../../ports/tables/tables.ts'
import type { NewKey, PublicKeyTimes, StoredKey } from './key-source.ts'

/** Key of the advisory lock that serializes the creation of keys between replicas. */
const KEYS_LOCK = 0x63746c_02

/** Blocks other transactions that create keys until this one ends. */
export async function lockKeys(tx: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(${KEYS_LOCK}::bigint)`.execute(tx)
}

/** Keys that still verify at `now`, in the order in which they sign. */
export async function readKeys(db: Db, now: Date): Promise<StoredKey[]> {
  const rows = await db
    .selectFrom('signing_keys')
    .selectAll()
    .where((where) => where.or([where('not_after', 'is', null), where('not_after', '>', now)]))
    .orderBy('signs_from')
    .execute()
  return rows.map(stored)
}

/** The ids of all keys that were ever published. */
export async function readKids(db: Db): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('signing_keys').select('kid').execute()
  return new Set(rows.map(({ kid }) => kid))
}

/** More keys than an operator creates by hand. */
const EXPIRED_MAX = 1_000

/** Public keys that verify no new signatures at `now`, newest first. */
export async function readExpired(db: Db, now: Date): Promise<PublicKeyTimes[]> {
  const rows = await db
    .selectFrom('signing_keys')
    .selectAll()
    .where('not_after', '<=', now)
    .orderBy('signs_from', 'desc')
    .limit(EXPIRED_MAX)
    .execute()
  return rows.map(publicHalf)
}

/** When a key is published and when it begins to sign. */
export interface KeyTimes {
  readonly now: Date
  readonly signsFrom: Date
}

/** Stores a key that is published from now on. */
export async function addKey(
  tx: Db,
  { publicKey, version, sealed, signer }: NewKey & { readonly signer: string },
  { now, signsFrom }: KeyTimes,
): Promise<StoredKey> {
  const kid = kidOf(publicKey)
  await tx
    .insertInto('signing_keys')
    .values({
      kid,
      public_key: publicKey,
      private_sealed: sealed ?? null,
      created_at: now,
      not_before: now,
      signs_from: signsFrom,
      not_after: null,
      signer,
      signer_version: version ?? null,
    })
    .execute()
  return { public: { kid, publicKey, notBefore: now, signsFrom, notAfter: undefined }, signer, version, sealed }
}

/** Sets the instant until which a key verifies signatures. */
export async function endKey(tx: Db, kid: string, notAfter: Date): Promise<void> {
  await tx.updateTable('signing_keys').set({ not_after: notAfter }).where('kid', '=', kid).execute()
}

/** Erases the private keys that are expired. The public keys stay, for records that are kept longer. */
export async function erasePastKeys(tx: Db, now: Date): Promise<void> {
  await tx.updateTable('signing_keys').set({ private_sealed: null }).where('not_after', '<=', now).execute()
}

/** The signer that new keys come from. */
export interface SignerInUse {
  /** Name of its source. */
  readonly signer: string
  readonly address: string
  /** Id of a key that the source made and that is not to be published by itself; undefined where there is none. */
  readonly passedKid: string | undefined
}

/** Undefined in a datastore without signing keys. */
export async function readSignerInUse(db: Db): Promise<SignerInUse | undefined> {
  const row = await db.selectFrom('signer_in_use').selectAll().executeTakeFirst()
  return row && { signer: row.signer, address: row.address, passedKid: row.passed_kid ?? undefined }
}

export async function writeSignerInUse(tx: Db, { signer, address }: Omit<SignerInUse, 'passedKid'>): Promise<void> {
  const row = { signer, address, passed_kid: null }
  await tx
    .insertInto('signer_in_use')
    .values(row)
    .onConflict((oc) => oc.column('singleton').doUpdateSet(row))
    .execute()
}

/** Notes a key that was made twice by two rotations at once, and is not used. */
export async function notePassed(tx: Db, kid: string): Promise<void> {
  await tx.updateTable('signer_in_use').set({ passed_kid: kid }).execute()
}

type Row = Selectable<Tables['signing_keys']>

function stored(row: Row): StoredKey {
  return {
    public: publicHalf(row),
    signer: row.signer,
    version: row.signer_version ?? undefined,
    sealed: row.private_sealed ?? undefined,
  }
}

function publicHalf(row: Row): PublicKeyTimes {
  return {
    kid: row.kid,
    publicKey: row.public_key,
    notBefore: row.not_before,
    signsFrom: row.signs_from,
    notAfter: row.not_after ?? undefined,
  }
}

/** The JWK thumbprint of an Ed25519 key of 32 bytes (RFC 7638 §3, members by RFC 8037 §2). */
export function kidOf(publicKey: Buffer): string {
  const x = publicKey.toString('base64url')
  return createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url')
}
