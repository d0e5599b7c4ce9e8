import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { SealedPlace, Sealing } from '../../ports/keyring.ts'
import type { KeySource, SignBatch, StoredKey } from '../signing-keys/key-source.ts'
import { kidOf } from '../signing-keys/key-store.ts'

/** Number of texts that are signed before the event loop runs other work: less than a millisecond. */
const AT_ONCE_MAX = 10

/** Private keys that are stored encrypted beside the public ones. */
export function createSealedKeys(sealing: Sealing): KeySource {
  return {
    name: 'sealed',
    address: 'the datastore',
    open: (key) => opened(key, sealing),
    async create() {
      const { publicKey: pair, privateKey } = generateKeyPairSync('ed25519')
      const publicKey = Buffer.from(pair.export({ format: 'jwk' }).x ?? '', 'base64url')
      const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' })
      return { publicKey, version: undefined, sealed: await sealing.seal(placeOf(kidOf(publicKey)), pkcs8) }
    },
  }
}

/** @throws Error for a key whose private half was erased: it verifies nothing any more, so that it is not read. */
async function opened({ public: { kid }, sealed }: StoredKey, sealing: Sealing): Promise<SignBatch> {
  if (sealed === undefined) throw new Error(`the private half of the signing key ${kid} is missing`)
  const pkcs8 = await sealing.open(placeOf(kid), sealed)
  const secret = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  return async (batch) => {
    const signatures: Buffer[] = []
    for (const [index, bytes] of batch.entries()) {
      if (index % AT_ONCE_MAX === AT_ONCE_MAX - 1) await setImmediate()
      signatures.push(sign(null, bytes, secret))
    }
    return signatures
  }
}

/** Where a private key that signs events is sealed. */
export function placeOf(kid: string): SealedPlace {
  return { table: 'signing_keys', column: 'private_sealed', rowId: kid }
}
