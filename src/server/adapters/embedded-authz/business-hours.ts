import type { BusinessHours } from '../../ports/tables/tenancy.ts'

/** The business hours of a Domain as the caveat `within_hours` reads them. */
export interface BusinessHoursValue {
  /** An IANA time zone that the runtime knows. */
  readonly time_zone: string
  /** Weekdays from 1, Monday, to 7. */
  readonly days: readonly number[]
  /** Minutes since midnight, inclusive. */
  readonly from_minute: number
  /** Minutes since midnight, exclusive. Hours that end at or before they start run past midnight. */
  readonly to_minute: number
}

/** Undefined when the runtime does not know the time zone: hours that cannot be computed hold for nobody. */
export function businessHoursValue({ time_zone, days, from, to }: BusinessHours): BusinessHoursValue | undefined {
  if (!isKnownZone(time_zone)) return undefined
  return { time_zone, days, from_minute: minuteOfDay(from), to_minute: minuteOfDay(to) }
}

function isKnownZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone }).resolvedOptions().timeZone !== ''
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Minutes since midnight of `HH:MM`. */
function minuteOfDay(time: string): number {
  const [hours, minutes] = time.split(':').map(Number)
  return (hours ?? 0) * 60 + (minutes ?? 0)
}
