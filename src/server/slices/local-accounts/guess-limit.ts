import type { Clock } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { restMsAfter } from './back-off.ts'
import { HashingBusy } from './password-hash.ts'
import { countGuess } from './sign-in-store.ts'

/** Counts a guess at a secret of the account before it is checked; resolves with whether it may be checked. */
export type CountGuess = (accountId: string) => Promise<boolean>

/** Passwords, codes of an app and recovery codes of an account share one count and one lock-out. */
export function createGuessLimit({
  datastore,
  clock,
}: {
  readonly datastore: Datastore
  readonly clock: Clock
}): CountGuess {
  const restAfter = (failures: number): Date | null => {
    const restMs = restMsAfter(failures)
    return restMs === 0 ? null : new Date(clock.now() + restMs)
  }
  return (id) =>
    datastore.transaction('interactive', (tx) => countGuess(tx, id, { now: new Date(clock.now()), restAfter }))
}

/** The hash; undefined when so many passwords are being hashed that this one would wait too long. */
export async function unlessBusy<T>(hashing: Promise<T>): Promise<T | undefined> {
  try {
    return await hashing
  } catch (error) {
    if (error instanceof HashingBusy) return undefined
    throw error
  }
}
