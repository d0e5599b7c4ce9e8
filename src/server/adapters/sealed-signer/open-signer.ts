import { createHash, createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { sql, type Selectable } from 'kysely'
import type { Clock } from '../../ports/clock.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { SealedPlace, SecretStore } from '../../ports/keyring.ts'
import type { Signer, VerificationKey } from '../../ports/signer.ts'
import type { Tables } from '../../ports/tables.ts'

export interface SignerDeps {
  readonly datastore: Datastore
  readonly secrets: SecretStore
  readonly clock: Clock
}

interface SigningKey {
  readonly verification: VerificationKey
  readonly secret: KeyObject
}

/** Serialises the making of the first key between replicas. */
const FIRST_KEY_LOCK = 0x63746c_02

/** The signer whose Ed25519 keys lie sealed in the datastore. Makes the first one. */
export async function openSigner(deps: SignerDeps): Promise<Signer> {
  const keys = await deps.datastore.transaction('worker', async (tx) => {
    await sql`select pg_advisory_xact_lock(${FIRST_KEY_LOCK}::bigint)`.execute(tx)
    const stored = await readKeys(tx, deps.secrets)
    return stored.length > 0 ? stored : [await makeKey(tx, deps)]
  })
  const [current] = keys
  if (current === undefined) throw new Error('there is no signing key')
  const verification = keys.map((key) => key.verification)
  return {
    sign: async (bytes) => ({ kid: current.verification.kid, signature: sign(null, bytes, current.secret) }),
    keys: () => verification,
  }
}

/** The current key first, then those that still verify what they signed. */
async function readKeys(db: Db, secrets: SecretStore): Promise<SigningKey[]> {
  const rows = await db
    .selectFrom('signing_keys')
    .selectAll()
    .orderBy(sql`not_after is not null`)
    .orderBy('not_before', 'desc')
    .execute()
  return Promise.all(rows.map((row) => openKey(row, secrets)))
}

async function openKey(row: Selectable<Tables['signing_keys']>, secrets: SecretStore): Promise<SigningKey> {
  const pkcs8 = await secrets.open(placeOf(row.kid), row.private_sealed)
  return {
    secret: createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }),
    verification: {
      kid: row.kid,
      publicKey: row.public_key,
      notBefore: row.not_before,
      notAfter: row.not_after ?? undefined,
    },
  }
}

async function makeKey(tx: Db, { secrets, clock }: SignerDeps): Promise<SigningKey> {
  const { publicKey: pair, privateKey: secret } = generateKeyPairSync('ed25519')
  const { x = '' } = pair.export({ format: 'jwk' })
  const publicKey = Buffer.from(x, 'base64url')
  const kid = thumbprint(x)
  const now = new Date(clock.now())
  const pkcs8 = secret.export({ format: 'der', type: 'pkcs8' })
  await tx
    .insertInto('signing_keys')
    .values({
      kid,
      public_key: publicKey,
      private_sealed: await secrets.seal(placeOf(kid), pkcs8),
      created_at: now,
      not_before: now,
      not_after: null,
    })
    .execute()
  return { secret, verification: { kid, publicKey, notBefore: now, notAfter: undefined } }
}

/** The JWK thumbprint of an Ed25519 key (RFC 7638 §3, members by RFC 8037 §2). `x` is the public key in base64url. */
function thumbprint(x: string): string {
  return createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url')
}

function placeOf(kid: string): SealedPlace {
  return { table: 'signing_keys', column: 'private_sealed', rowId: kid }
}
