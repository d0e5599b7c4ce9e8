import type { BusinessHours } from '../../ports/tables/tenancy.ts'

/** An invalid member: RFC 6901 pointer below the business hours, and the rule. */
export interface HoursFault {
  readonly pointer: '/time_zone' | '/to'
  readonly detail: string
}

/** Offsets such as `+02:00` pass for time zones on newer engines; the caveat requires a region, whose clocks may change. */
const NAMED_ZONE = /^[A-Za-z]/

/** Checks what the schema cannot express: the zone must exist, and equal times would mean either always or never. */
export function faultOfHours(hours: BusinessHours): HoursFault | undefined {
  if (zoneOf(hours.time_zone) === undefined) return { pointer: '/time_zone', detail: 'must be a known IANA time zone' }
  if (hours.from === hours.to) return { pointer: '/to', detail: 'must differ from the start' }
  return undefined
}

/** Sorts the days, drops repeated ones and spells the zone with the capitals of the IANA database. */
export function normalizeHours(hours: BusinessHours): BusinessHours {
  const days = [...new Set(hours.days)].toSorted((a, b) => a - b)
  return { ...hours, time_zone: zoneOf(hours.time_zone) ?? hours.time_zone, days }
}

/** The zone in its proper capitals, an alias unchanged; undefined when there is no such zone. */
function zoneOf(name: string): string | undefined {
  if (!NAMED_ZONE.test(name)) return undefined
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
