import { createHash } from 'node:crypto'
import { chmod, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Io } from '../output/io.ts'
import type { Offer } from './offer.ts'
import { makeFolder } from '../files/make-folder.ts'

/** Offers of an earlier call, and how old they are. */
interface Kept {
  readonly offers: readonly Offer[]
  readonly ageMs: number
}

/** Offers between two presses of a key. Files of their own in the cache directory, mode 0600; they hold names and no secret. */
export interface OfferCache {
  read(key: readonly string[]): Promise<Kept | undefined>
  write(key: readonly string[], offers: readonly Offer[]): Promise<void>
}

/** What is older is of no use even while the server is away, and is removed. */
export const KEPT_MS = 5 * 60_000

/** Opens the cache; nothing is read or made yet. */
export function createOfferCache({ env, home, nowMs }: Pick<Io, 'env' | 'home' | 'nowMs'>): OfferCache {
  const directory = join(env['XDG_CACHE_HOME'] || join(home, '.cache'), 'ctl', 'completion')
  const pathOf = (key: readonly string[]): string =>
    join(directory, `${createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 32)}.json`)

  async function ageOf(path: string): Promise<number> {
    // The clock is read in whole ms: against fractions of them, what was written just now would come from the future.
    const age = nowMs() - Math.floor((await stat(path)).mtimeMs)
    return age < 0 ? Infinity : age
  }

  async function removeOld(): Promise<void> {
    for (const name of await readdir(directory)) {
      const path = join(directory, name)
      if ((await ageOf(path)) > KEPT_MS) await rm(path, { force: true })
    }
  }

  return {
    async read(key) {
      try {
        const path = pathOf(key)
        const ageMs = await ageOf(path)
        if (ageMs > KEPT_MS) return undefined
        return { ageMs, offers: JSON.parse(await readFile(path, 'utf8')) as readonly Offer[] }
      } catch {
        return undefined // Absent, or cut short by something else: it is asked again.
      }
    },
    async write(key, offers) {
      const path = pathOf(key)
      const beside = `${path}.${process.pid}.tmp`
      makeFolder(directory, 0o700)
      await writeFile(beside, JSON.stringify(offers), { mode: 0o600 })
      await chmod(beside, 0o600)
      await rename(beside, path)
      await removeOld()
    },
  }
}
