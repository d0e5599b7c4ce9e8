/** The largest use of a UTC day, counted in days since the epoch. */
export interface DailyMaximum {
  readonly day: number
  readonly max: number
}

const DAYS_MIN = 3
const DAYS_AHEAD_MAX = 365

/**
 * Growth a day: the median of the slopes between any two days (Theil and Sen), which a few days out of line do not move.
 * Undefined for fewer than three days.
 */
export function growthADay(days: readonly DailyMaximum[]): number | undefined {
  if (days.length < DAYS_MIN) return undefined
  const slopes = days.flatMap((later, index) =>
    days.slice(0, index).map((earlier) => (later.max - earlier.max) / (later.day - earlier.day)),
  )
  return median(slopes)
}

/** Days until the target is reached, to a tenth: 0 when it is, null without growth, without a target, and beyond a year. */
export function daysUntilFull(use: { readonly used: number; readonly target: number }, growth: number | undefined) {
  if (use.target === 0) return null
  if (use.used >= use.target) return 0
  if (growth === undefined || growth <= 0) return null
  const days = (use.target - use.used) / growth
  return days > DAYS_AHEAD_MAX ? null : Math.round(days * 10) / 10
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2
}
