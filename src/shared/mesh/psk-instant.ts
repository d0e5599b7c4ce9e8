const NS_PER_MS = 1_000_000n
const NS_PER_SECOND = 1_000_000_000n

const PSK_INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{9}Z$/

/**
 * The instant of a node's preshared key, given in ns since the epoch: UTC with nine fractional digits and `Z` (S0: the
 * halves of an edge's epoch). Of fixed width up to the year 9999, so that texts compare as instants do.
 */
export function formatPskIssuedAt(ns: bigint): string {
  const seconds = new Date(Number(ns / NS_PER_MS)).toISOString().slice(0, 19)
  return `${seconds}.${(ns % NS_PER_SECOND).toString().padStart(9, '0')}Z`
}

/** Whether the text is such an instant, with a valid date. */
export function isPskIssuedAt(text: string): boolean {
  const [, seconds] = PSK_INSTANT.exec(text) ?? []
  if (seconds === undefined) return false
  const ms = Date.parse(`${seconds}Z`)
  // Invalid dates, such as 30 February, would be read as a later day.
  return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 19) === seconds
}
