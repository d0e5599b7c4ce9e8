/** The largest unit first, in seconds. */
const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** A span as one number and its unit, e.g. `3 min`. */
export function spanOf(milliseconds: number): string {
  const seconds = Math.round(Math.abs(milliseconds) / 1000)
  const [unit, size] = UNITS.find(([, each]) => seconds >= each) ?? ['s', 1]
  return `${Math.round(seconds / size)} ${unit}`
}

/** An instant as its distance from now, e.g. `3 min ago` or `in 2 h`. */
export function relative(instant: string, nowMs: number): string {
  const distance = Date.parse(instant) - nowMs
  if (Math.abs(distance) < 1000) return 'now'
  return distance < 0 ? `${spanOf(distance)} ago` : `in ${spanOf(distance)}`
}

/** A number with separators, and at most one digit after the point. */
export const numberText = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 })

const STEPS = [
  ['GiB', 1024 ** 3],
  ['MiB', 1024 ** 2],
  ['KiB', 1024],
] as const

/** A number in its unit; bytes in the largest binary unit. */
export function amountText(value: number, unit: string): string {
  if (unit === 'count') return numberText(value)
  if (unit !== 'bytes/sec') return `${numberText(value)} ${unit.replace('/sec', '/s')}`
  const [name, size] = STEPS.find(([, each]) => value >= each) ?? ['B', 1]
  return `${numberText(value / size)} ${name}/s`
}

/** `1 node`, `2 nodes`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${numberText(count)} ${count === 1 ? noun : plural}`

/** Both ends of an id or a checksum, enough for people to compare: ids of one time begin alike. */
export const shortened = (id: string): string => (id.length <= 16 ? id : `${id.slice(0, 8)}…${id.slice(-6)}`)
