import { isUnwritable, type Datastore } from '../../ports/datastore.ts'
import type { SealedPlace, Sealing } from '../../ports/keyring.ts'
import { secretStoreUnavailable, SecretVersionConflict, type SecretStore } from '../../ports/secret-store.ts'
import * as store from './store.ts'

export interface SealedSecretsDeps {
  readonly datastore: Datastore
  readonly sealing: Sealing
}

/** Deadline of the ping, ms: below that of the probes. */
const PING_DEADLINE_MS = 2_000

/**
 * The secret store in the datastore itself: each version is a row sealed under the key ring, bound to its path and number.
 * A rotation of the master key changes none of them.
 */
export function createSealedSecrets({ datastore, sealing }: SealedSecretsDeps): SecretStore {
  const db = () => datastore.pool('interactive')
  return {
    kind: 'embedded',

    put: (path, bytes, cas) =>
      whileAvailable(async () => {
        const version = cas + 1
        const sealed = await sealing.seal(placeOf(path, version), bytes)
        if (!(await store.insertAfter(db(), { path, version, sealed }))) throw conflict(path, cas)
        return version
      }),

    get: (path, version) =>
      whileAvailable(async () => {
        const found = await store.findVersion(db(), path, version)
        if (found === undefined || found.sealed === null) return undefined
        return sealing.open(placeOf(path, found.version), found.sealed)
      }),

    newest: (path) => whileAvailable(() => store.newestVersion(db(), path)),

    destroy: (path, version) =>
      whileAvailable(() =>
        version === undefined ? store.deletePath(db(), path) : store.eraseVersion(db(), path, version),
      ),

    ping: () => whileAvailable(() => datastore.ping(PING_DEADLINE_MS)),
  }
}

/** Where a version of a secret is sealed. */
export function placeOf(path: string, version: number): SealedPlace {
  return { table: 'secret_versions', column: 'sealed', rowId: `${path}@${version}` }
}

function conflict(path: string, cas: number): SecretVersionConflict {
  return new SecretVersionConflict(`the newest version of ${path} is not ${cas}`)
}

async function whileAvailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isUnwritable(error)) throw error
    throw secretStoreUnavailable('unreachable', 'the datastore, which keeps the secrets, cannot be used', error)
  }
}
