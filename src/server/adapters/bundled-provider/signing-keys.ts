import { generateKeyPair, randomUUID, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import type { JWK } from 'oidc-provider'
import type { SealedPlace } from '../../ports/keyring.ts'
import { insertKeys, readKeys, type KeyRecord } from './key-store.ts'
import { lockProvider } from './locks.ts'
import type { StateDeps } from './state-adapter.ts'

const generate = promisify(generateKeyPair)

/** The private keys that sign ID tokens, ES256 before RS256; made and sealed where there are none. */
export async function openSigningKeys(deps: StateDeps): Promise<JWK[]> {
  const { datastore, secrets } = deps
  const known = await readKeys(datastore.pool('interactive'))
  const records = known.length > 0 ? known : await makeKeys(deps)
  const open = async ({ kid, private_sealed: sealed }: KeyRecord): Promise<JWK> =>
    // Sealed by `sealedKey` below, and bound to its row.
    JSON.parse(Buffer.from(await secrets.open(placeOf(kid), sealed)).toString('utf8')) as JWK
  return (await Promise.all(records.map(open))).toSorted((one, other) => (one.alg ?? '').localeCompare(other.alg ?? ''))
}

/** Of replicas that start at once one makes them. The long work is done before the lock is taken. */
async function makeKeys(deps: StateDeps): Promise<KeyRecord[]> {
  const ec = await generate('ec', { namedCurve: 'P-256' })
  const rsa = await generate('rsa', { modulusLength: 2048 })
  const drafts = [await sealedKey(deps, ec.privateKey, 'ES256'), await sealedKey(deps, rsa.privateKey, 'RS256')]
  return deps.datastore.transaction('interactive', async (tx) => {
    await lockProvider(tx)
    const known = await readKeys(tx)
    if (known.length > 0) return known
    await insertKeys(tx, drafts)
    return drafts
  })
}

async function sealedKey({ secrets, clock }: StateDeps, key: KeyObject, alg: 'ES256' | 'RS256'): Promise<KeyRecord> {
  const kid = randomUUID()
  const jwk = { ...key.export({ format: 'jwk' }), kid, alg, use: 'sig' }
  const sealed = await secrets.seal(placeOf(kid), Buffer.from(JSON.stringify(jwk), 'utf8'))
  return { kid, private_sealed: sealed, created_at: new Date(clock.now()) }
}

function placeOf(kid: string): SealedPlace {
  return { table: 'provider_keys', column: 'private_sealed', rowId: kid }
}
