import { Problem } from '../../../shared/problems.ts'
import { SignerError, signingUnavailable, type Signer } from '../../ports/signer.ts'
import type { KeySource, SignBatch, StoredKey } from './key-source.ts'
import { kidOf, readExpired, readKeys } from './key-store.ts'
import { addForeign, notOurs, prepareRotation, type SignerDeps } from './rotation.ts'
import { currentOf, KEEP_MS, published, REFRESH_MS, signingFrom, STALE_MS } from './schedule.ts'
import { settleSigner } from './settle-signer.ts'

/** A signer that picks up the changes that other processes make to the keys. */
export interface FollowingSigner extends Signer {
  /** Publishes a key that was rotated in the other service itself. Nothing where the keys are in the datastore. */
  adopt(): Promise<void>
  /** Reloads the keys, and adopts new ones, every few seconds from now on. */
  follow(onFailure: (error: unknown) => void): void
  /** Stops reloading, and closes connections. */
  stop(): Promise<void>
}

/** A stored key with what signs with it; undefined where this process has not its source. */
interface KnownKey extends StoredKey {
  readonly signBatch: SignBatch | undefined
}

/**
 * Opens the signer over sources of keys. Creates the first key. A service that is away keeps only that, and a move, from
 * succeeding.
 *
 * @throws BootError in one sentence.
 */
export async function openSignerOver(deps: SignerDeps): Promise<FollowingSigner> {
  const { datastore, clock, source, former } = deps
  await settleSigner(deps)
  let known = await load(deps)
  let confirmedMs = performance.now()
  let timer: NodeJS.Timeout | undefined

  async function refresh(): Promise<void> {
    known = await load(deps)
    confirmedMs = performance.now()
  }

  async function adopt(): Promise<void> {
    if (source.remote === undefined) return
    const newest = await source.remote.inspect(ownOf(signingFrom(known, clock.now()), source))
    const kid = kidOf(newest.publicKey)
    if (known.some((key) => key.public.kid === kid)) return
    const isAdopted = await datastore.transaction('worker', (tx) => addForeign(tx, deps, newest))
    if (!isAdopted) return
    deps.warn?.(
      `version ${newest.version} of ${source.name} was made elsewhere: it is published as the next key ${kid}`,
    )
    await refresh()
  }

  /** A service that cannot be used has been reported by its source. */
  async function adoptQuietly(): Promise<void> {
    await adopt().catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error
    })
  }

  async function signMany(batch: readonly Uint8Array[]): Promise<{ kid: string; signatures: readonly Buffer[] }> {
    const { public: key, signBatch, signer } = currentOf(known, clock.now())
    if (signBatch === undefined) throw notOurs(signer, source)
    return { kid: key.kid, signatures: await signBatch(batch) }
  }

  const { remote } = source
  return {
    keepSeconds: KEEP_MS / 1000,
    refresh,
    adopt,
    signMany,
    async sign(bytes) {
      const { kid, signatures } = await signMany([bytes])
      const [signature] = signatures
      if (signature === undefined) throw new Error('a signer gave no signature')
      return { kid, signature }
    },
    keys() {
      if (timer !== undefined && performance.now() - confirmedMs > STALE_MS)
        throw signingUnavailable(new SignerError('broken', 'the signing keys could not be read for two minutes'))
      return published(known, clock.now())
    },
    async expired() {
      const keys = await readExpired(datastore.pool('interactive'), new Date(clock.now()))
      return keys.map((key) => ({ ...key, state: 'expired' }))
    },
    prepareRotation: () => prepareRotation(deps),
    ...(remote !== undefined && { status: () => remote.status() }),
    follow(onFailure) {
      const schedule = (): void => {
        timer = setTimeout(again, REFRESH_MS).unref()
      }
      const again = (): void => {
        const ended = refresh()
          .then(adoptQuietly)
          .catch((error: unknown) => {
            if (timer !== undefined) onFailure(error)
          })
        void ended.then(() => timer !== undefined && schedule())
      }
      schedule()
    },
    async stop() {
      clearTimeout(timer)
      timer = undefined
      for (const { remote: other } of [source, ...former]) await other?.close()
    },
  }
}

async function load({ datastore, clock, source, former }: SignerDeps): Promise<readonly KnownKey[]> {
  const keys = await readKeys(datastore.pool('worker'), new Date(clock.now()))
  const sources = [source, ...former]
  return Promise.all(
    keys.map(async (key) => ({ ...key, signBatch: await sources.find(({ name }) => name === key.signer)?.open(key) })),
  )
}

function ownOf(keys: readonly StoredKey[], { name }: KeySource): readonly StoredKey[] {
  return keys.filter(({ signer }) => signer === name)
}
