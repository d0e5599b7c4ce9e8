import { chownSync, rmSync, statSync } from 'node:fs'
import type { MasterKeySource } from '../../ports/master-key-source.ts'
import { BootError } from '../../ports/boot-error.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { SealingKey } from '../../ports/keyring.ts'
import { fittingKey } from './open-keyring.ts'
import { makeMasterKey, promoteNextKey, readMasterKey, readNextKey } from './master-key.ts'
import { lockRing, rewrapRing, storedRows, wraps, type KeyringRow } from './stored-ring.ts'

/** The result of a rotation; `id` names the master key that now wraps the ring, `path` its file. */
export interface MasterKeyRotation {
  readonly id: string
  readonly path: string
  /** `finished`: completed an interrupted one. `unchanged`: the new key wraps the ring already. */
  readonly outcome: 'rotated' | 'finished' | 'unchanged'
}

const ADVICE = 'make its directory writable, or name another place with --new-key-file'

/**
 * Wraps the keyring under the key in another file, which is created if it does not exist. The file is on disk before the
 * keyring changes: at any moment one of the two keys on disk opens it.
 *
 * @throws BootError in one sentence; the keyring is unchanged.
 */
export async function rotateInto(
  datastore: Datastore,
  source: MasterKeySource,
  path: string,
): Promise<MasterKeyRotation> {
  return datastore.transaction('worker', async (tx) => {
    await lockRing(tx)
    const rows = sealedRows(await storedRows(tx))
    const there = readMasterKey({ kind: 'own', path })
    if (there !== undefined && wraps(there, rows)) return { id: there.id, path, outcome: 'unchanged' }
    const { key: from } = fittingKey(source, rows)
    const to = there ?? makeMasterKey(path, 'make its directory writable, or name another file')
    await rewrapRing(tx, rows, { from, to })
    return { id: to.id, path, outcome: 'rotated' }
  })
}

/**
 * Replaces the master key in its file: the new key is written beside the old one, the keyring wrapped,
 * the file renamed. A start in between finds the key beside (`proveMasterKey`), another call finishes.
 *
 * @throws BootError in one sentence; the keyring is unchanged unless the sentence reports a change.
 */
export async function rotateInPlace(
  datastore: Datastore,
  source: MasterKeySource & { readonly path: string },
): Promise<MasterKeyRotation> {
  const { id, outcome } = await datastore.transaction('worker', async (tx) => {
    await lockRing(tx)
    const rows = sealedRows(await storedRows(tx))
    const { key: from, isNext } = fittingKey(source, rows)
    if (isNext) return { id: from.id, outcome: 'finished' as const }
    const to = makeNextKey(source)
    await rewrapRing(tx, rows, { from, to })
    return { id: to.id, outcome: 'rotated' as const }
  })
  await datastore.transaction('worker', async (tx) => {
    await lockRing(tx)
    // Under the lock, since another process may have finished this rotation and begun another one.
    if (readNextKey(source)?.id === id) promoteNextKey(source)
  })
  return { id, path: source.path, outcome }
}

/** A leftover key wraps nothing: the one in use is valid. */
function makeNextKey(source: MasterKeySource & { readonly path: string }): SealingKey {
  const path = `${source.path}.next`
  rmSync(path, { force: true })
  const made = makeMasterKey(path, ADVICE)
  const { uid, gid } = statSync(source.path)
  // A rotation as root must keep the file readable for the server's user.
  if (statSync(path).uid !== uid) chownSync(path, uid, gid)
  return made
}

function sealedRows(rows: readonly KeyringRow[]): readonly KeyringRow[] {
  if (rows.length > 0) return rows
  throw new BootError(
    1,
    'Nothing is sealed in this datastore yet, so there is no master key to rotate; start a server.',
  )
}
