/** Wrong guesses before the account is locked for a while. */
const FREE_FAILURES = 5
const FIRST_REST_MS = 30_000
const REST_MS_MAX = 15 * 60_000

/** How long an account refuses after so many failures in a row, in ms: twice as long each time, 15 minutes at most. */
export function restMsAfter(failures: number): number {
  if (failures < FREE_FAILURES) return 0
  return Math.min(REST_MS_MAX, FIRST_REST_MS * 2 ** (failures - FREE_FAILURES))
}
