import type { Clock } from '../../ports/clock.ts'

/** How often the version is checked. */
const LOOKED_AT_EVERY_MS = 60_000

export interface KeptOpenDeps<T> {
  readonly clock: Clock
  /** Returns the current version; a new one means that the value must be opened again. */
  readonly version: () => Promise<string>
  readonly open: () => Promise<T>
}

interface Opened<T> {
  readonly value: T
  readonly version: string
}

/**
 * Opens once for all waiting callers, at the first call, and again when the version changes. The version is checked once a minute
 * by one caller; the others do not wait for it. After a failure the next caller tries again.
 */
export function createKeptOpen<T>({ clock, version, open }: KeptOpenDeps<T>): () => Promise<T> {
  let opened: Promise<Opened<T>> | undefined
  let lookedAtMs = Number.NEGATIVE_INFINITY

  const begin = async (): Promise<Opened<T>> => {
    // Read first: a change in between is found by the next check.
    const current = await version()
    const value = await open()
    // The first opening may have created that version.
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
