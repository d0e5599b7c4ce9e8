import type { MaintenanceWindow } from './tables.ts'

const DAYS: Readonly<Record<string, number>> = { Mon: 1, Tue: 2, Wed: 3, Thu: 4, Fri: 5, Sat: 6, Sun: 7 }

/** Offsets such as `+01:00`, which some runtimes take as zones, have no daylight saving time: they are not IANA names. */
const ZONE_NAME = /^[A-Za-z]/

/** Whether the runtime knows the IANA time zone. */
export function isTimeZone(name: string): boolean {
  if (!ZONE_NAME.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/**
 * Whether the window is open. It goes by the clock on the wall of its zone: an hour that a change of that clock leaves out is never
 * reached, and one that it repeats is reached twice.
 */
export function isOpen({ time_zone: timeZone, days, from, to }: MaintenanceWindow, nowMs: number): boolean {
  const { day, time } = wallClock(timeZone, nowMs)
  if (from < to) return days.includes(day) && from <= time && time < to
  const isEvening = days.includes(day) && from <= time
  const isMorningAfter = days.includes(dayBefore(day)) && time < to
  return isEvening || isMorningAfter
}

/** The weekday, 1 (Monday) to 7, and the time of day as `HH:MM`. */
function wallClock(timeZone: string, nowMs: number): { readonly day: number; readonly time: string } {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  const parts = new Map(format.formatToParts(nowMs).map(({ type, value }) => [type, value]))
  return { day: DAYS[parts.get('weekday') ?? ''] ?? 0, time: `${parts.get('hour')}:${parts.get('minute')}` }
}

function dayBefore(day: number): number {
  return day === 1 ? 7 : day - 1
}
