import { problem } from '../../shared/problems.ts'
import type { Clock, IdSource } from '../ports/clock.ts'
import type { Datastore, Db } from '../ports/datastore.ts'
import { SecretVersionConflict, type SecretStore } from '../ports/secret-store.ts'
import type { SecretToWrite, SecretWrites } from '../ports/secret-writes.ts'
import type { Change } from '../ports/unit-of-work.ts'
import * as store from './store.ts'

export interface SecretWritesDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
  readonly clock: Clock
  readonly secretStore: SecretStore
}

/**
 * How long a write may take, ms. The calls of the store end much earlier; a server may go on with a call that was given up
 * for 90 s (`default_max_request_duration` of OpenBao). After that nothing can appear at the path any more.
 */
export const LEASE_MS = 120_000
/** A write that did not come as far as its put by then sends none: it must land well before the lease ends. */
const PUT_WITHIN_MS = 30_000

/** A write under way. */
interface Put {
  readonly id: string
  readonly begunMs: number
  /** The newest version that has an owner. */
  readonly base: number
}

/** Versions in the store, around a write. */
interface Landed {
  /** The newest one before it. Those above the base are of writes that were given up. */
  readonly before: number
  readonly version: number
}

/** Makes the writer of secrets, for all slices that own some. */
export function createSecretWrites(deps: SecretWritesDeps): SecretWrites {
  const { datastore, ids, clock, secretStore } = deps
  const inTransaction = <T>(work: (tx: Db) => Promise<T>): Promise<T> => datastore.transaction('interactive', work)
  const later = (ms: number): Date => new Date(clock.now() + ms)

  async function begin({ owner, path, base }: SecretToWrite): Promise<Put> {
    const id = ids.next()
    const begunMs = clock.now()
    return inTransaction(async (tx) => {
      await supersede(tx, { owner, path, now: later(0) })
      if (!(await store.insertPut(tx, { id, owner, path, due_at: later(LEASE_MS) }))) throw inProgress()
      // Read behind the insert: from here on nobody else can give the owner a version.
      const newest = await base(tx)
      await store.setBase(tx, id, newest)
      return { id, begunMs, base: newest }
    })
  }

  async function land({ path, bytes }: SecretToWrite, { base, begunMs }: Put): Promise<Landed> {
    const before = await secretStore.newest(path)
    // The owner was deleted, and the path behind it: a version here would never be destroyed.
    if (before < base || clock.now() > begunMs + PUT_WITHIN_MS) throw inProgress()
    return { before, version: await secretStore.put(path, bytes, before) }
  }

  async function claim(change: Change, secret: SecretToWrite, { id, base, before }: Put & Landed): Promise<void> {
    if (!(await store.deleteIntent(change.db, id))) throw inProgress()
    const { owner, path } = secret
    const strays = Array.from({ length: before - base }, (_, at) => ({
      id: ids.next(),
      owner,
      path,
      version: base + 1 + at,
      due_at: later(0),
    }))
    await store.insertDestructions(change.db, strays)
  }

  /** Lets others write, and has the version discarded: at once where no call of this write can still land. */
  async function giveUp(id: string, hasEnded: boolean): Promise<void> {
    await store.abandon(datastore.pool('interactive'), id, hasEnded ? later(0) : undefined)
  }

  return {
    async write(secret, own) {
      const put = await begin(secret)
      const landed = await land(secret, put).catch((error: unknown) =>
        afterwards(() => giveUp(put.id, false), translated(error)),
      )
      const { version } = landed
      const written = { version, claim: (change: Change) => claim(change, secret, { ...put, ...landed }) }
      return own(written).catch((error: unknown) => afterwards(() => giveUp(put.id, true), error))
    },

    async destroyBehind(change, { owner, path, version = null }) {
      await store.insertDestructions(change.db, [{ id: ids.next(), owner, path, version, due_at: later(0) }])
    },
  }
}

/**
 * Removes the write of the owner that was given up. Its versions are discarded by the next one of the same path; another
 * path is destroyed when nothing can appear there any more.
 *
 * @throws Problem `secret_write_in_progress` where it was not given up.
 */
async function supersede(
  tx: Db,
  { owner, path, now }: { readonly owner: string; readonly path: string; readonly now: Date },
): Promise<void> {
  const found = await store.lockPut(tx, owner)
  if (found === undefined) return
  if (!found.is_abandoned && found.due_at > now) throw inProgress()
  if (found.path === path) await store.deleteIntent(tx, found.id)
  else await store.turnIntoDestruction(tx, found.id)
}

function inProgress(cause?: unknown): Error {
  return problem('secret_write_in_progress', {}, cause)
}

function translated(error: unknown): unknown {
  return error instanceof SecretVersionConflict ? inProgress(error) : error
}

/** Cleans up, and throws the error that made it necessary. A failed clean-up is left to the end of the lease. */
async function afterwards(cleanUp: () => Promise<void>, error: unknown): Promise<never> {
  await cleanUp().catch(() => undefined)
  throw error
}
