import type { BusinessHours } from '../../ports/tables.ts'

/** The business hours of a Domain, ready to be asked. */
export interface BusinessHoursTest {
  contains(atMs: number): boolean
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/**
 * Prepares business hours: weekdays 1 (Monday) to 7, from inclusive to exclusive, in the zone's own time. Hours that end
 * at or before they start run past midnight, and then count for the day on which they start.
 * Undefined when the runtime does not know the time zone: hours that cannot be told hold for nobody.
 */
export function businessHoursTest(hours: BusinessHours): BusinessHoursTest | undefined {
  const format = formatIn(hours.time_zone)
  if (format === undefined) return undefined
  const from = minuteOfDay(hours.from)
  const to = minuteOfDay(hours.to)
  const days = new Set(hours.days)
  return {
    contains(atMs) {
      const { day, minute } = localTime(format, atMs)
      if (from < to) return minute >= from && minute < to && days.has(day)
      return (minute >= from && days.has(day)) || (minute < to && days.has(day === 1 ? 7 : day - 1))
    },
  }
}

function formatIn(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    const parts = { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
    return new Intl.DateTimeFormat('en-US', { timeZone, ...parts })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function localTime(format: Intl.DateTimeFormat, atMs: number): { day: number; minute: number } {
  const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, value]))
  const minute = Number(parts.get('hour')) * 60 + Number(parts.get('minute'))
  return { day: WEEKDAYS.indexOf(parts.get('weekday') ?? '') + 1, minute }
}

/** Minutes since midnight of `HH:MM`. */
function minuteOfDay(time: string): number {
  const [hours, minutes] = time.split(':').map(Number)
  return (hours ?? 0) * 60 + (minutes ?? 0)
}
