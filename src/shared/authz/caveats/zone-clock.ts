/** The local date and time of a moment in a time zone. */
export interface LocalTime {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  /** 1 to 31. */
  readonly day: number
  /** 0 for Sunday to 6. */
  readonly weekday: number
  /** 0 for the first of January. */
  readonly dayOfYear: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly millisecond: number
}

/** Time zones whose rules are cached; beyond that the cache is cleared. */
const ZONES_MAX = 500

/** Hours and minutes, as loosely as cel-go reads them. */
const FIXED_OFFSET = /^([+-]?)(\d{1,3}):(\d{1,3})$/

const PARTS = {
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  era: 'short',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const

/** Offsets change only at quarter hours. */
const QUARTER_MS = 900_000

/** A zone and its UTC offset in the last quarter hour that was requested. */
interface Zone {
  readonly format: Intl.DateTimeFormat
  fromMs: number
  aheadMs: number
}

/**
 * Computes the local time of moments, in nanoseconds since 1970, in a zone: `UTC`, an offset `+02:00` or a name of IANA.
 * Throws an Error for a zone that the runtime does not know.
 */
export function createZoneClock(): (nanos: bigint, zone: string) => LocalTime {
  const zones = new Map<string, Zone>()

  function zoneOf(name: string): Zone {
    const known = zones.get(name)
    if (known !== undefined) return known
    const format = new Intl.DateTimeFormat('en-US', { timeZone: name, ...PARTS })
    if (isMisspelt(name, format.resolvedOptions().timeZone)) throw new Error('unknown time zone')
    const zone = { format, fromMs: Number.NaN, aheadMs: 0 }
    if (zones.size >= ZONES_MAX) zones.clear()
    zones.set(name, zone)
    return zone
  }

  return (nanos, zone) => {
    const ms = Number(nanos / 1_000_000n) - (nanos % 1_000_000n < 0n ? 1 : 0)
    if (zone === 'UTC' || zone === '') return localTime(ms)
    const fixed = FIXED_OFFSET.exec(zone)
    if (fixed === null) return localTime(ms + aheadMs(zoneOf(zone), ms))
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3])
    return localTime(ms + (fixed[1] === '-' ? -minutes : minutes) * 60_000)
  }
}

/** The runtime ignores case in zone names; SpiceDB does not. */
function isMisspelt(name: string, canonical: string): boolean {
  return name !== canonical && name.toLowerCase() === canonical.toLowerCase()
}

/** Uses the calendar once for each quarter hour: it is a hundred times slower than the rest. */
function aheadMs(zone: Zone, ms: number): number {
  const fromMs = Math.floor(ms / QUARTER_MS) * QUARTER_MS
  if (zone.fromMs === fromMs) return zone.aheadMs
  const aheadAt = (at: number): number => wallClockMs(zone.format, at) - at
  const ahead = aheadAt(ms)
  if (aheadAt(fromMs) === ahead && aheadAt(fromMs + QUARTER_MS - 1) === ahead) {
    zone.fromMs = fromMs
    zone.aheadMs = ahead
  }
  return ahead
}

/** The moment at which a clock of UTC shows what clocks of the zone show now. */
function wallClockMs(format: Intl.DateTimeFormat, ms: number): number {
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]))
  const of = (part: Intl.DateTimeFormatPartTypes): number => Number(parts.get(part))
  const year = parts.get('era') === 'BC' ? 1 - of('year') : of('year')
  const at = new Date(((ms % 1000) + 1000) % 1000)
  at.setUTCFullYear(year, of('month') - 1, of('day'))
  at.setUTCHours(of('hour'), of('minute'), of('second'))
  return at.getTime()
}

const DAY_MS = 86_400_000

function localTime(wallMs: number): LocalTime {
  const at = new Date(wallMs)
  const newYear = new Date(0)
  newYear.setUTCFullYear(at.getUTCFullYear(), 0, 1)
  return {
    year: at.getUTCFullYear(),
    month: at.getUTCMonth() + 1,
    day: at.getUTCDate(),
    weekday: at.getUTCDay(),
    dayOfYear: Math.floor((wallMs - newYear.getTime()) / DAY_MS),
    hour: at.getUTCHours(),
    minute: at.getUTCMinutes(),
    second: at.getUTCSeconds(),
    millisecond: at.getUTCMilliseconds(),
  }
}
