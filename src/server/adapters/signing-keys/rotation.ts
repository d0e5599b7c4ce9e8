import type { Clock } from '../../ports/clock.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import { SignerError, signingUnavailable, type KeyRotation, type RotationWrite } from '../../ports/signer.ts'
import type { Problem } from '../../../shared/problems.ts'
import type { KeySource, NewKey, StoredKey } from './key-source.ts'
import {
  addKey,
  endKey,
  erasePastKeys,
  kidOf,
  lockKeys,
  notePassed,
  readKeys,
  readKids,
  readSignerInUse,
} from './key-store.ts'
import { currentOf, pendingOf, stated, succession } from './schedule.ts'

export interface SignerDeps {
  readonly datastore: Datastore
  readonly clock: Clock
  /** Makes the new keys. */
  readonly source: KeySource
  /** Other sources that this process can still sign with, until their last key is replaced. */
  readonly former: readonly KeySource[]
  /** Whether the keys may be of another source so far. If so, the next key is of `source`. */
  readonly isMoving: boolean
  /** Called with what does not keep the signer from being opened. */
  readonly warn?: (message: string, error?: unknown) => void
}

/** Adds a key that was made outside of this server, unless it is known, was passed over, or another one is pending. */
export async function addForeign(tx: Db, deps: SignerDeps, newest: NewKey): Promise<boolean> {
  await lockKeys(tx)
  const nowMs = deps.clock.now()
  const inUse = await readSignerInUse(tx)
  if (inUse?.signer !== deps.source.name) return false
  const kid = kidOf(newest.publicKey)
  const kids = await readKids(tx)
  const keys = await readKeys(tx, new Date(nowMs))
  if (kids.has(kid) || inUse.passedKid === kid || pendingOf(keys, nowMs) !== undefined) return false
  await succeed(tx, deps, { keys, newKey: newest })
  return true
}

/** Makes the next key, unless one is pending. Gives what publishes it. */
export async function prepareRotation(deps: SignerDeps): Promise<RotationWrite> {
  const { datastore, clock, source } = deps
  const db = datastore.pool('worker')
  const nowMs = clock.now()
  const isPending = pendingOf(await readKeys(db, new Date(nowMs)), nowMs) !== undefined
  const made = isPending ? undefined : await source.create(await readKids(db))
  return (tx) => rotate(tx, deps, made)
}

/** Publishes the next key, and sets the end of the current one. */
async function rotate(tx: Db, deps: SignerDeps, made: NewKey | undefined): Promise<KeyRotation> {
  await lockKeys(tx)
  const nowMs = deps.clock.now()
  const inUse = await readSignerInUse(tx)
  if (inUse !== undefined && inUse.signer !== deps.source.name) throw notOurs(inUse.signer, deps.source)
  const keys = await readKeys(tx, new Date(nowMs))
  const current = currentOf(keys, nowMs)
  const pending = pendingOf(keys, nowMs)
  if (pending !== undefined) {
    const madeKid = made && kidOf(made.publicKey)
    if (madeKid !== undefined && madeKid !== pending.public.kid) await notePassed(tx, madeKid)
    return { next: stated(pending, 'next'), previous: stated(current, 'current'), isNew: false }
  }
  if (made === undefined) throw signingUnavailable(new SignerError('key', 'the pending key began to sign meanwhile'))
  const { next, notAfter } = await succeed(tx, deps, { keys, newKey: made })
  return { next: stated(next, 'next'), previous: { ...stated(current, 'current'), notAfter }, isNew: true }
}

interface Succession {
  readonly next: StoredKey
  readonly notAfter: Date
}

/** Publishes a key that signs after all others. */
export async function succeed(
  tx: Db,
  { clock, source }: Pick<SignerDeps, 'clock' | 'source'>,
  { keys, newKey }: { readonly keys: readonly StoredKey[]; readonly newKey: NewKey },
): Promise<Succession> {
  const nowMs = clock.now()
  const now = new Date(nowMs)
  const newest = keys.at(-1) ?? currentOf(keys, nowMs)
  const { signsFrom, notAfter } = succession(newest, nowMs)
  const next = await addKey(tx, { ...newKey, signer: source.name }, { now, signsFrom })
  await endKey(tx, newest.public.kid, notAfter)
  await erasePastKeys(tx, now)
  return { next, notAfter }
}

/** The problem of a process whose configuration is not that of the keys. */
export function notOurs(signer: string, source: KeySource): Problem {
  return signingUnavailable(
    new SignerError('moved', `the signing key is of ${signer}, and this server is configured for ${source.name}`),
  )
}
