import { generateKeyPair, randomUUID, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import type { JWK } from 'oidc-provider'
import type { SealedPlace } from '../../ports/keyring.ts'
import { inTurn, type ScheduledKey } from './key-schedule.ts'
import { insertKeys, readKeys, type KeyRecord } from './key-store.ts'
import { lockProvider } from './locks.ts'
import type { StateDeps } from './state-adapter.ts'

const generate = promisify(generateKeyPair)

/** A private key with its schedule. */
export interface SigningKey extends ScheduledKey {
  readonly jwk: JWK
}

/** The private keys that sign ID tokens, ES256 before RS256, of each first the one that signs now; made and sealed where there are none. */
export async function openSigningKeys(deps: StateDeps): Promise<JWK[]> {
  const known = await readKeys(deps.datastore.pool('interactive'))
  const keys = await opened(deps, known.length > 0 ? known : await makeKeys(deps))
  return inTurn(keys, deps.clock.now()).map(({ jwk }) => jwk)
}

/** A version of the current keys: it changes when another key signs or is published. Empty where there is none. */
export async function keysInTurn(deps: StateDeps): Promise<string> {
  const keys = await opened(deps, await readKeys(deps.datastore.pool('interactive')))
  return inTurn(keys, deps.clock.now())
    .map(({ kid }) => kid)
    .join()
}

/** Opens keys as they are stored. */
export function opened({ sealing }: Pick<StateDeps, 'sealing'>, records: readonly KeyRecord[]): Promise<SigningKey[]> {
  const open = async ({ kid, private_sealed: sealed, created_at: at }: KeyRecord): Promise<SigningKey> => {
    // Sealed by `sealedKey` below, and bound to its row.
    const jwk = JSON.parse(Buffer.from(await sealing.open(placeOf(kid), sealed)).toString('utf8')) as JWK
    return { kid, alg: jwk.alg ?? '', createdAtMs: at.getTime(), jwk }
  }
  return Promise.all(records.map(open))
}

/** If replicas start at the same time, one of them creates the keys. The slow part runs before the lock is taken. */
async function makeKeys(deps: StateDeps): Promise<KeyRecord[]> {
  const drafts = await draftKeys(deps)
  return deps.datastore.transaction('interactive', async (tx) => {
    await lockProvider(tx)
    const known = await readKeys(tx)
    if (known.length > 0) return known
    await insertKeys(tx, drafts)
    return drafts
  })
}

/** A new key of each algorithm, sealed and stored nowhere yet. */
export async function draftKeys(deps: Pick<StateDeps, 'sealing' | 'clock'>): Promise<KeyRecord[]> {
  const ec = await generate('ec', { namedCurve: 'P-256' })
  const rsa = await generate('rsa', { modulusLength: 2048 })
  return [await sealedKey(deps, ec.privateKey, 'ES256'), await sealedKey(deps, rsa.privateKey, 'RS256')]
}

async function sealedKey(
  { sealing, clock }: Pick<StateDeps, 'sealing' | 'clock'>,
  key: KeyObject,
  alg: 'ES256' | 'RS256',
): Promise<KeyRecord> {
  const kid = randomUUID()
  const jwk = { ...key.export({ format: 'jwk' }), kid, alg, use: 'sig' }
  const sealed = await sealing.seal(placeOf(kid), Buffer.from(JSON.stringify(jwk), 'utf8'))
  return { kid, private_sealed: sealed, created_at: new Date(clock.now()) }
}

/** Where a private key of the provider is sealed. */
export function placeOf(kid: string): SealedPlace {
  return { table: 'provider_keys', column: 'private_sealed', rowId: kid }
}
