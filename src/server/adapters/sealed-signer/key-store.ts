import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { sql, type Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { SealedPlace, Sealing } from '../../ports/keyring.ts'
import type { VerificationKey } from '../../ports/signer.ts'
import type { Tables } from '../../ports/tables/tables.ts'

/** A stored signing key with its decrypted private key. Its state depends on the current time. */
export interface SigningKey {
  readonly public: Omit<VerificationKey, 'state'>
  readonly secret: KeyObject
}

/** Key of the advisory lock that serializes the creation of keys between replicas. */
const KEYS_LOCK = 0x63746c_02

/** Blocks other transactions that create keys until this one ends. */
export async function lockKeys(tx: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(${KEYS_LOCK}::bigint)`.execute(tx)
}

/** Keys that still verify at `now`, in the order in which they sign. */
export async function readKeys(db: Db, sealing: Sealing, now: Date): Promise<SigningKey[]> {
  const rows = await db
    .selectFrom('signing_keys')
    .selectAll()
    .where((where) => where.or([where('not_after', 'is', null), where('not_after', '>', now)]))
    .orderBy('signs_from')
    .execute()
  return Promise.all(rows.flatMap((row) => openKey(row, sealing) ?? []))
}

/** More keys than an operator creates by hand. */
const EXPIRED_MAX = 1_000

/** Public keys that verify no new signatures at `now`, newest first. */
export async function readExpired(db: Db, now: Date): Promise<SigningKey['public'][]> {
  const rows = await db
    .selectFrom('signing_keys')
    .selectAll()
    .where('not_after', '<=', now)
    .orderBy('signs_from', 'desc')
    .limit(EXPIRED_MAX)
    .execute()
  return rows.map(publicHalf)
}

/** Creates a key that is published from now on. */
export async function addKey(
  tx: Db,
  sealing: Sealing,
  { now, signsFrom }: { readonly now: Date; readonly signsFrom: Date },
): Promise<SigningKey> {
  const { publicKey: pair, privateKey: secret } = generateKeyPairSync('ed25519')
  const { x = '' } = pair.export({ format: 'jwk' })
  const publicKey = Buffer.from(x, 'base64url')
  const kid = thumbprint(x)
  const row = { kid, public_key: publicKey, created_at: now, not_before: now, signs_from: signsFrom, not_after: null }
  const pkcs8 = secret.export({ format: 'der', type: 'pkcs8' })
  await tx
    .insertInto('signing_keys')
    .values({ ...row, private_sealed: await sealing.seal(placeOf(kid), pkcs8) })
    .execute()
  return { secret, public: { kid, publicKey, notBefore: now, signsFrom, notAfter: undefined } }
}

/** Sets the instant until which a key verifies signatures. */
export async function endKey(tx: Db, kid: string, notAfter: Date): Promise<void> {
  await tx.updateTable('signing_keys').set({ not_after: notAfter }).where('kid', '=', kid).execute()
}

/** Erases the private keys that are expired. The public keys stay, for records that are kept longer. */
export async function erasePastKeys(tx: Db, now: Date): Promise<void> {
  await tx.updateTable('signing_keys').set({ private_sealed: null }).where('not_after', '<=', now).execute()
}

type Row = Selectable<Tables['signing_keys']>

function openKey(row: Row, sealing: Sealing): Promise<SigningKey> | undefined {
  const { private_sealed: sealed } = row
  return sealed === null ? undefined : opened(row, sealing, sealed)
}

async function opened(row: Row, sealing: Sealing, sealed: Buffer): Promise<SigningKey> {
  const pkcs8 = await sealing.open(placeOf(row.kid), sealed)
  return {
    secret: createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }),
    public: publicHalf(row),
  }
}

function publicHalf(row: Row): SigningKey['public'] {
  return {
    kid: row.kid,
    publicKey: row.public_key,
    notBefore: row.not_before,
    signsFrom: row.signs_from,
    notAfter: row.not_after ?? undefined,
  }
}

/** The JWK thumbprint of an Ed25519 key (RFC 7638 §3, members by RFC 8037 §2). `x` is the public key in base64url. */
function thumbprint(x: string): string {
  return createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url')
}

function placeOf(kid: string): SealedPlace {
  return { table: 'signing_keys', column: 'private_sealed', rowId: kid }
}
