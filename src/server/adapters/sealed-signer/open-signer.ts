import { sign } from 'node:crypto'
import { problem } from '../../../shared/problems.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { Sealing } from '../../ports/keyring.ts'
import type { KeyRotation, Signer, VerificationKey } from '../../ports/signer.ts'
import { addKey, endKey, erasePastKeys, lockKeys, readExpired, readKeys, type SigningKey } from './key-store.ts'

export interface SignerDeps {
  readonly datastore: Datastore
  readonly sealing: Sealing
  readonly clock: Clock
}

/** A signer that picks up the changes that other processes make to the keys. */
export interface FollowingSigner extends Signer {
  /** Reloads the keys every few seconds from now on. */
  follow(onFailure: (error: unknown) => void): void
  /** Stops reloading. */
  stop(): void
}

/** How often each process reloads the keys. */
const REFRESH_MS = 15_000
/** A process whose last reload is older publishes no keys: its list may lack the next signing key. */
const STALE_MS = 120_000
/** How long a verifier may keep the list. */
const KEEP_MS = 300_000
/** Maximum difference between the clocks of replicas. */
const SKEW_MS = 60_000
/**
 * Time from the publication of a key to its first signature. By then every cached list without the key is out of use.
 * The rest is for an operator who wants to check the new key before.
 */
const PUBLISHED_AHEAD_MS = STALE_MS + KEEP_MS + SKEW_MS + 120_000
/** How long a key verifies after its last signature: event envelopes are kept for 7 days (decisions: Events). */
const VERIFIES_ON_MS = 8 * 86_400_000

/** Opens the signer whose Ed25519 keys are stored encrypted in the datastore. Creates the first key. */
export async function openSigner(deps: SignerDeps): Promise<FollowingSigner> {
  const { datastore, sealing, clock } = deps
  let known = await firstKeys(deps)
  let confirmedMs = performance.now()
  let timer: NodeJS.Timeout | undefined

  async function refresh(): Promise<void> {
    known = await readKeys(datastore.pool('worker'), sealing, new Date(clock.now()))
    confirmedMs = performance.now()
  }

  return {
    keepSeconds: KEEP_MS / 1000,
    refresh,
    async sign(bytes) {
      const current = currentOf(known, clock.now())
      if (current === undefined) throw problem('signing_unavailable')
      return { kid: current.public.kid, signature: sign(null, bytes, current.secret) }
    },
    keys() {
      if (timer !== undefined && performance.now() - confirmedMs > STALE_MS) throw problem('signing_unavailable')
      return published(known, clock.now())
    },
    async expired() {
      const keys = await readExpired(datastore.pool('interactive'), new Date(clock.now()))
      return keys.map((key) => ({ ...key, state: 'expired' }))
    },
    rotate: (tx) => rotate(tx, deps),
    follow(onFailure) {
      const schedule = (): void => {
        timer = setTimeout(again, REFRESH_MS).unref()
      }
      const again = (): void => {
        const ended = refresh().catch((error: unknown) => {
          if (timer !== undefined) onFailure(error)
        })
        void ended.then(() => timer !== undefined && schedule())
      }
      schedule()
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}

function firstKeys(deps: SignerDeps): Promise<readonly SigningKey[]> {
  return deps.datastore.transaction('worker', async (tx) => {
    await lockKeys(tx)
    const now = new Date(deps.clock.now())
    const stored = await readKeys(tx, deps.sealing, now)
    return stored.length > 0 ? stored : [await addKey(tx, deps.sealing, { now, signsFrom: now })]
  })
}

/** Publishes the next key, and sets the end of the current one. */
async function rotate(tx: Db, { sealing, clock }: SignerDeps): Promise<KeyRotation> {
  await lockKeys(tx)
  const nowMs = clock.now()
  const now = new Date(nowMs)
  const keys = await readKeys(tx, sealing, now)
  const current = currentOf(keys, nowMs)
  if (current === undefined) throw problem('signing_unavailable')
  const pending = keys.find((key) => key !== current && key.public.signsFrom > now)
  if (pending !== undefined)
    return { next: stated(pending, 'next'), previous: stated(current, 'current'), isNew: false }
  const signsFrom = new Date(nowMs + PUBLISHED_AHEAD_MS)
  const notAfter = new Date(signsFrom.getTime() + VERIFIES_ON_MS)
  const next = await addKey(tx, sealing, { now, signsFrom })
  await endKey(tx, current.public.kid, notAfter)
  await erasePastKeys(tx, now)
  return { next: stated(next, 'next'), previous: { ...stated(current, 'current'), notAfter }, isNew: true }
}

/**
 * The newest key whose first signature may be made now. If the clock is behind the start of the first key, that key
 * signs.
 */
function currentOf(keys: readonly SigningKey[], nowMs: number): SigningKey | undefined {
  return keys.findLast((key) => key.public.signsFrom.getTime() <= nowMs) ?? keys[0]
}

function published(keys: readonly SigningKey[], nowMs: number): readonly VerificationKey[] {
  const current = currentOf(keys, nowMs)
  if (current === undefined) throw problem('signing_unavailable')
  const at = keys.indexOf(current)
  return [
    stated(current, 'current'),
    ...keys.slice(at + 1).map((key) => stated(key, 'next')),
    ...keys
      .slice(0, at)
      .filter((key) => (key.public.notAfter?.getTime() ?? Infinity) > nowMs)
      .toReversed()
      .map((key) => stated(key, 'retired')),
  ]
}

function stated(key: SigningKey, state: VerificationKey['state']): VerificationKey {
  return { ...key.public, state }
}
