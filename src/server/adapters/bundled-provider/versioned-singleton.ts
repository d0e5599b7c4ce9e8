import type { Clock } from '../../ports/clock.ts'

/** How often it is looked at whether what was opened still holds. */
const LOOKED_AT_EVERY_MS = 60_000

export interface KeptOpenDeps<T> {
  readonly clock: Clock
  /** Names the version to open; another name means that it has to be opened again. */
  readonly version: () => Promise<string>
  readonly open: () => Promise<T>
}

interface Opened<T> {
  readonly value: T
  readonly version: string
}

/**
 * Opens once for all who wait, at the first call, and again where the version is another; that is asked once a minute,
 * by one caller, whom the others do not wait for. After a failure the next one tries again.
 */
export function createKeptOpen<T>({ clock, version, open }: KeptOpenDeps<T>): () => Promise<T> {
  let opened: Promise<Opened<T>> | undefined
  let lookedAtMs = Number.NEGATIVE_INFINITY

  const begin = async (): Promise<Opened<T>> => {
    // Asked first: what changes in between is found at the next look.
    const current = await version()
    const value = await open()
    // The first opening may have made what is named.
    return { value, version: current === '' ? await version() : current }
  }

  function openAnew(): Promise<Opened<T>> {
    const attempt: Promise<Opened<T>> = begin().catch((error: unknown) => {
      if (opened === attempt) opened = undefined
      throw error
    })
    opened = attempt
    lookedAtMs = clock.now()
    return attempt
  }

  return async () => {
    if (opened === undefined) return (await openAnew()).value
    const elapsedMs = clock.now() - lookedAtMs
    const known = await opened
    if (elapsedMs >= 0 && elapsedMs < LOOKED_AT_EVERY_MS) return known.value
    lookedAtMs = clock.now()
    return (await version()) === known.version ? known.value : (await openAnew()).value
  }
}
