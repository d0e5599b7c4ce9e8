import { atTurnEnd } from './immediate-batch.ts'

export interface GatheredReadsOptions<T> {
  /** Reads many values in one statement; missing ones are left out. */
  readonly readMany: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>
  /** Whether a failure concerns the calling request, and not these keys. */
  readonly isOutage: (error: unknown) => boolean
  /** Maximum of concurrent statements. */
  readonly flightsMax: number
  /** Maximum of keys in one statement. */
  readonly batchMax: number
}

interface Asked<T> {
  readonly key: string
  readonly resolve: (found: T | undefined) => void
  readonly reject: (error: unknown) => void
}

/**
 * Reads one by one, by their keys, for many callers at once: those that ask in one turn of the event loop, or while statements are on
 * their way, share the next one. It begins after they asked, so that each reads what was committed by then; a lone caller
 * does not wait. If the datastore is unavailable, all waiting callers fail with the first.
 */
export function createGatheredReads<T>(options: GatheredReadsOptions<T>): (key: string) => Promise<T | undefined> {
  let waiting: Asked<T>[] = []
  let flights = 0
  const departure = atTurnEnd(depart)

  function depart(): void {
    while (waiting.length > 0 && flights < options.flightsMax) {
      const batch = waiting.slice(0, options.batchMax)
      waiting = waiting.slice(batch.length)
      flights += 1
      void fly(batch)
    }
  }

  async function fly(batch: readonly Asked<T>[]): Promise<void> {
    try {
      const found = await options.readMany([...new Set(batch.map(({ key }) => key))])
      for (const { key, resolve } of batch) resolve(found.get(key))
    } catch (error) {
      for (const { reject } of options.isOutage(error) ? [...batch, ...waiting.splice(0)] : batch) reject(error)
    } finally {
      flights -= 1
      if (waiting.length > 0) departure.ask()
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      if (flights < options.flightsMax) departure.ask()
    })
}
