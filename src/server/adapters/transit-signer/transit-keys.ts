import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import type { Clock } from '../../ports/clock.ts'
import { SignerError } from '../../ports/signer.ts'
import { createBaoConnection, type BaoAddress } from '../openbao/connection.ts'
import type { BaoLogin } from '../openbao/logins.ts'
import { createBaoSession } from '../openbao/session.ts'
import type { KeySource, NewKey, RemoteKeys, SignBatch, StoredKey } from '../signing-keys/key-source.ts'
import { kidOf } from '../signing-keys/key-store.ts'
import { batchesOf } from './batches.ts'
import { createCallRecord } from './call-record.ts'
import { createTransitApi, type TransitKey, type TransitPlace } from './transit-api.ts'

export interface TransitOptions {
  readonly address: BaoAddress
  readonly place: TransitPlace
  readonly login: BaoLogin
  readonly clock: Clock
  /** Called with each call that fails: renewals of the token, signatures, reads. */
  readonly onFailure: (error: unknown) => void
}

/** A source whose keys are versions of one key of a Transit engine of OpenBao or Vault. */
export interface TransitKeys extends KeySource {
  readonly remote: RemoteKeys
}

/**
 * Signs with a key of type `ed25519` that never leaves the engine. Each key of the source is one version: the engine signs
 * with its newest version by default, so that each call names the version. Opens no connection yet.
 */
export function createTransitKeys({ address, place, login, clock, onFailure }: TransitOptions): TransitKeys {
  const connection = createBaoConnection(address)
  const session = createBaoSession({ connection, login, onFailure })
  const api = createTransitApi(session, place)
  const record = createCallRecord({ clock, onFailure })

  async function signBatch(batch: readonly Uint8Array[], key: OpenedKey): Promise<readonly Buffer[]> {
    const signatures: Buffer[] = []
    for (const part of batchesOf(batch)) {
      const signed = await api.sign(part, key.version)
      signatures.push(...(await Promise.all(signed.map((one, index) => verified(one, part[index], key)))))
    }
    return signatures
  }

  return {
    name: [address.namespace, place.mount, place.key].filter((part) => part !== undefined).join('/'),
    address: address.url,
    async open(key) {
      const opened = openedKey(key)
      const signer: SignBatch = (batch) => record.observe(() => signBatch(batch, opened))
      return signer
    },
    create: (knownKids) =>
      record.observe(async () => {
        const before = newestOf(await api.read())
        if (!knownKids.has(kidOf(before.publicKey))) return before
        await api.rotate()
        const made = newestOf(await api.read())
        if (knownKids.has(kidOf(made.publicKey))) throw new SignerError('key', 'a rotation made no new version')
        return made
      }),
    remote: {
      inspect: (stored) =>
        record.observe(async () => {
          const key = await api.read()
          const newest = newestOf(key)
          for (const one of stored) assertPresent(one, key)
          return newest
        }),
      status: () => record.status(),
      async close() {
        session.close()
        await connection.close()
      },
    },
  }
}

/** @throws SignerError where the key cannot be used at all. */
function newestOf({ type, flaw, latestVersion, publicKeys }: TransitKey): NewKey {
  const refuse = (message: string): never => {
    throw new SignerError('key', message)
  }
  if (type !== 'ed25519') refuse(`it is of type ${type}, not ed25519`)
  if (flaw !== undefined) refuse(flaw)
  const publicKey = publicKeys.get(latestVersion) ?? refuse(`its version ${latestVersion} has no public key`)
  return { publicKey, version: latestVersion, sealed: undefined }
}

/** @throws SignerError where the engine does not have the version, has another key under it, or does not sign with it. */
function assertPresent({ version = 0, public: { publicKey } }: StoredKey, key: TransitKey): void {
  const present = key.publicKeys.get(version)
  if (present === undefined)
    throw new SignerError('key', `it has no version ${version}, with which this database signs`)
  if (!present.equals(publicKey))
    throw new SignerError('key', `its version ${version} is not the one that this database published`)
  if (version < key.versionMin)
    throw new SignerError('key', `min_encryption_version ${key.versionMin} keeps its version ${version} from signing`)
}

interface OpenedKey {
  readonly version: number
  readonly publicKey: KeyObject
}

function openedKey({ version, public: { kid, publicKey } }: StoredKey): OpenedKey {
  if (version === undefined) throw new Error(`the signing key ${kid} has no version of a Transit key`)
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') }
  return { version, publicKey: createPublicKey({ key: jwk, format: 'jwk' }) }
}

/** Runs in the thread pool: a batch would hold up the event loop for tens of milliseconds. */
const verifyAside = promisify<null, Uint8Array, KeyObject, Uint8Array, boolean>(verify)

/** @throws SignerError for a signature that does not verify under the published key, or names another version. */
async function verified(
  { version, signature }: { readonly version: number; readonly signature: Buffer },
  bytes: Uint8Array | undefined,
  key: OpenedKey,
): Promise<Buffer> {
  if (version !== key.version)
    throw new SignerError('signature', `version ${key.version} was to sign, and version ${version} did`)
  const isGood = bytes !== undefined && (await verifyAside(null, bytes, key.publicKey, signature))
  if (!isGood) throw new SignerError('signature', `a signature of version ${version} does not verify`)
  return signature
}
