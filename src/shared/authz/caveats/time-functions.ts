import { CelScalar, celFunc, celMethod, objectType, type CelFunc } from '@bufbuild/cel'
import { DurationSchema, TimestampSchema } from '@bufbuild/protobuf/wkt'
import { nanosOf, parseDuration, parseTimestamp, timestampOf, withinYears } from './go-time.ts'
import { createZoneClock, type LocalTime } from './zone-clock.ts'

const { INT, STRING } = CelScalar
const TIMESTAMP = objectType(TimestampSchema)
const DURATION = objectType(DurationSchema)

const DATE_FIELDS: { readonly [name: string]: (time: LocalTime) => number } = {
  getFullYear: (time) => time.year,
  getMonth: (time) => time.month - 1,
  getDate: (time) => time.day,
  getDayOfMonth: (time) => time.day - 1,
  getDayOfWeek: (time) => time.weekday,
  getDayOfYear: (time) => time.dayOfYear,
  getHours: (time) => time.hour,
  getMinutes: (time) => time.minute,
  getSeconds: (time) => time.second,
  getMilliseconds: (time) => time.millisecond,
}

const SECOND = 1_000_000_000n

/** Nanoseconds of each unit of a duration. */
const DURATION_UNITS: { readonly [name: string]: bigint } = {
  getHours: 3600n * SECOND,
  getMinutes: 60n * SECOND,
  getSeconds: SECOND,
  getMilliseconds: 1_000_000n,
}

/**
 * The functions of time as cel-go has them. Those of the library read the calendar through the time zone of the machine
 * and count timestamps in milliseconds.
 */
export function timeFunctions(): CelFunc[] {
  const localTime = createZoneClock()
  const dateFields = Object.entries(DATE_FIELDS).flatMap(([name, field]) => [
    celMethod(name, TIMESTAMP, [], INT, function () {
      return BigInt(field(localTime(nanosOf(this.message), 'UTC')))
    }),
    celMethod(name, TIMESTAMP, [STRING], INT, function (zone) {
      return BigInt(field(localTime(nanosOf(this.message), zone)))
    }),
  ])
  const durationFields = Object.entries(DURATION_UNITS).map(([name, unit]) =>
    celMethod(name, DURATION, [], INT, function () {
      return nanosOf(this.message) / unit
    }),
  )
  return [...dateFields, ...durationFields, ...conversions()]
}

function conversions(): CelFunc[] {
  return [
    celFunc('timestamp', [STRING], TIMESTAMP, (text) => orFail(withinYears(parseTimestamp(text)), 'not a timestamp')),
    celFunc('timestamp', [INT], TIMESTAMP, (seconds) => orFail(withinYears(timestampOf(seconds)), 'out of range')),
    celFunc('duration', [STRING], DURATION, (text) => orFail(parseDuration(text), 'not a duration')),
    celFunc('duration', [INT], DURATION, () => {
      throw new Error('numbers have no unit')
    }),
    celFunc('int', [DURATION], INT, ({ message }) => nanosOf(message)),
    celFunc('string', [TIMESTAMP], STRING, ({ message }) => timestampText(nanosOf(message))),
    celFunc('string', [DURATION], STRING, ({ message }) => durationText(nanosOf(message))),
  ]
}

function orFail<T>(value: T | undefined, reason: string): T {
  if (value === undefined) throw new Error(reason)
  return value
}

/** RFC 3339 in UTC, with as many digits of a second as there are. */
function timestampText(nanos: bigint): string {
  const rest = ((nanos % SECOND) + SECOND) % SECOND
  const whole = new Date(Number((nanos - rest) / 1_000_000n)).toISOString().slice(0, 19)
  return `${whole}${fraction(rest)}Z`
}

/** In seconds: `5400s`, `1.5s`. */
function durationText(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos
  return `${nanos < 0n ? '-' : ''}${size / SECOND}${fraction(size % SECOND)}s`
}

function fraction(nanos: bigint): string {
  return nanos === 0n
    ? ''
    : `.${String(nanos)
        .padStart(9, '0')
        .replace(/(?<!0)0+$/, '')}`
}
