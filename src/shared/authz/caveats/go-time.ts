import { create } from '@bufbuild/protobuf'
import { DurationSchema, TimestampSchema, type Duration, type Timestamp } from '@bufbuild/protobuf/wkt'

const SECOND = 1_000_000_000n
const NANOS_MAX = 2n ** 63n - 1n
/** Seconds of the years 1 to 9999, which is what timestamps of CEL span. */
const SECONDS_MIN = -62_135_596_800n
const SECONDS_MAX = 253_402_300_799n

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/

/** Reads a moment as Go does with `time.RFC3339`, which takes hours of one digit. Undefined when it is none. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const parts = RFC3339.exec(text)
  if (parts === null) return undefined
  const [, year, month, day, hour, minute, second] = parts.map(Number)
  const date = [Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)] as const
  if (!isMoment(date)) return undefined
  const offset = offsetSeconds(parts[8], Number(parts[9] ?? 0), Number(parts[10] ?? 0))
  if (offset === undefined) return undefined
  return moment(BigInt(utcSeconds(date) - offset) * SECOND + fractionNanos(parts[7] ?? ''))
}

type Moment = readonly [year: number, month: number, day: number, hour: number, minute: number, second: number]

/** `Date.UTC` reads the years before 100 as those after 1900. */
function utcSeconds([year, month, day, hour, minute, second]: Moment): number {
  const at = new Date(0)
  at.setUTCFullYear(year, month, day)
  at.setUTCHours(hour, minute, second)
  return at.getTime() / 1000
}

function isMoment(date: Moment): boolean {
  const [, month, day, hour, minute, second] = date
  const at = new Date(utcSeconds(date) * 1000)
  return hour < 24 && minute < 60 && second < 60 && day > 0 && at.getUTCMonth() === month && at.getUTCDate() === day
}

function offsetSeconds(sign: string | undefined, hours: number, minutes: number): number | undefined {
  if (hours > 24 || minutes > 60) return undefined
  return (sign === '-' ? -1 : 1) * (hours * 3600 + minutes * 60)
}

const fractionNanos = (digits: string): bigint => BigInt(digits.slice(0, 9).padEnd(9, '0'))

/** A moment in nanoseconds since 1970. */
function moment(nanos: bigint): Timestamp {
  const rest = ((nanos % SECOND) + SECOND) % SECOND
  return create(TimestampSchema, { seconds: (nanos - rest) / SECOND, nanos: Number(rest) })
}

/** Undefined when it is out of the years that expressions may make; values that are given may be of the year 0 too. */
export function withinYears(timestamp: Timestamp | undefined): Timestamp | undefined {
  const seconds = timestamp?.seconds
  return seconds === undefined || seconds < SECONDS_MIN || seconds > SECONDS_MAX ? undefined : timestamp
}

/** A moment in seconds since 1970. */
export const timestampOf = (seconds: bigint): Timestamp => create(TimestampSchema, { seconds })

const UNITS: { readonly [unit: string]: bigint } = {
  ns: 1n,
  us: 1_000n,
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: SECOND,
  m: 60n * SECOND,
  h: 3600n * SECOND,
}
const DURATION = /^([+-]?)(?:0|((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+))$/
const DURATION_PIECE = /(\d*)\.?(\d*)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g

/** Characters of a duration; the longest sensible one has a tenth of that. */
const DURATION_CHARS_MAX = 200

/** Reads a duration as Go does: `1h30m`, `-1.5s`, `0`. Undefined when it is none or does not fit 64 bits of nanoseconds. */
export function parseDuration(text: string): Duration | undefined {
  const parts = text.length > DURATION_CHARS_MAX ? null : DURATION.exec(text)
  if (parts === null) return undefined
  const pieces = Array.from((parts[2] ?? '').matchAll(DURATION_PIECE), pieceNanos)
  const nanos = pieces.reduce((sum, piece) => sum + piece, 0n)
  return durationOf(parts[1] === '-' ? -nanos : nanos)
}

function pieceNanos([, whole = '', fraction = '', unit = '']: readonly string[]): bigint {
  const scale = UNITS[unit] ?? 0n
  return BigInt(whole || 0) * scale + (BigInt(fraction || 0) * scale) / 10n ** BigInt(fraction.length)
}

/** Undefined when it does not fit 64 bits. */
function durationOf(nanos: bigint): Duration | undefined {
  if (nanos > NANOS_MAX || nanos < -NANOS_MAX - 1n) return undefined
  return create(DurationSchema, { seconds: nanos / SECOND, nanos: Number(nanos % SECOND) })
}

/** The whole of a timestamp or duration in nanoseconds. */
export const nanosOf = ({ seconds, nanos }: Pick<Duration, 'seconds' | 'nanos'>): bigint =>
  seconds * SECOND + BigInt(nanos)
