import { setTimeout as sleep } from 'node:timers/promises'
import { depth } from './depth.ts'
import type { PausingDatastore } from '../datastores/pausing-datastore.ts'

/** Long enough for what waits for a row to be seen to wait. */
const BLOCKED_MS = 60
const DEADLINE_MS = 30_000

/**
 * Lets one path stand still behind that statement while the other one goes as far as it can.
 *
 * @throws Error where the two wait for each other.
 */
export async function meet<One, Other>(
  pausing: PausingDatastore,
  behind: number,
  { first, second }: { readonly first: () => Promise<One>; readonly second: () => Promise<Other> },
): Promise<readonly [One, Other]> {
  const pause = pausing.pauseBehind(behind)
  const one = within(first())
  await Promise.race([pause.reached, one])
  const other = within(second())
  await Promise.race([other, sleep(BLOCKED_MS)])
  pause.open()
  return Promise.all([one, other])
}

/** How many statements a path takes. */
export async function statementsOf(pausing: PausingDatastore, path: () => Promise<unknown>): Promise<number> {
  const pause = pausing.pauseBehind(Infinity)
  await path()
  return pause.statements()
}

/** Behind which statements: the first two, one in the middle and the last ones, which the commit follows; or all. */
export function places(statements: number): readonly number[] {
  const all = Array.from({ length: statements }, (_, index) => index + 1)
  const few = new Set([1, 2, Math.ceil(statements / 2), statements - 1, statements])
  return depth({ ci: all.filter((place) => few.has(place)), deep: all })
}

async function within<T>(work: Promise<T>): Promise<T> {
  const late = sleep(DEADLINE_MS, undefined, { ref: false }).then(() => {
    throw new Error('no answer: the two wait for each other')
  })
  return Promise.race([work, late])
}
