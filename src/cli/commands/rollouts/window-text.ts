import { mistypedError, usageError } from '../../errors/cli-error.ts'
import type { MaintenanceWindow } from './answers.ts'

/** Monday is 1. */
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
const EVERY_DAY: readonly number[] = [1, 2, 3, 4, 5, 6, 7]
const WINDOW = /^(?:(\S+)\s+)?(\d{1,2}:\d\d)\s*-\s*(\d{1,2}:\d\d)(?:\s+(\S+))?$/
const TIME = /^(?:[01]?\d|2[0-3]):[0-5]\d$/

/**
 * Reads a maintenance window, `Mon-Fri 09:00-16:00 Europe/Berlin`: weekdays, from and to, time zone. Every day where the weekdays
 * are absent; `24:00` is midnight. The one word `none` is no window. Throws a usage error that begins with the flag.
 */
export function windowFrom(text: string, flag: string): MaintenanceWindow | null {
  if (text.trim() === 'none') return null
  const [, days, from = '', to = '', zone] = WINDOW.exec(text.trim()) ?? []
  if (from === '') throw unreadable(text, flag)
  if (zone === undefined)
    throw usageError(`${flag} needs a time zone`, `Add one, such as Europe/Berlin or UTC: '${text.trim()} UTC'`)
  const window = {
    time_zone: zoneFrom(zone, flag),
    days: [...daysFrom(days, flag)],
    from: timeFrom(from, flag),
    to: timeFrom(to === '24:00' ? '00:00' : to, flag),
  }
  if (window.from === window.to)
    throw usageError(`${flag} begins and ends at ${window.from}`, "For whole days write '00:00-23:59'.")
  return window
}

function unreadable(text: string, flag: string): Error {
  return usageError(
    `${flag} cannot be read: "${text}"`,
    "Write weekdays, from-to and a time zone: 'Mon-Fri 09:00-16:00 Europe/Berlin', 'Sat,Sun 22:00-04:00 UTC'.",
  )
}

function timeFrom(text: string, flag: string): string {
  if (!TIME.test(text)) throw usageError(`${flag}: "${text}" is no time of day such as 09:00`)
  return text.padStart(5, '0')
}

/** The name as typed: the API takes aliases too. */
function zoneFrom(zone: string, flag: string): string {
  try {
    void new Intl.DateTimeFormat('en', { timeZone: zone })
    return zone
  } catch {
    throw mistypedError(`${flag}: there is no time zone "${zone}"`, {
      word: zone,
      known: ['UTC', ...Intl.supportedValuesOf('timeZone')],
      otherwise: 'Time zones have names such as Europe/Berlin, America/New_York and UTC.',
    })
  }
}

function daysFrom(text: string | undefined, flag: string): readonly number[] {
  if (text === undefined || /^(?:daily|\*)$/i.test(text)) return EVERY_DAY
  const found = new Set(text.split(',').flatMap((part) => rangeFrom(part, flag)))
  return EVERY_DAY.filter((day) => found.has(day))
}

/** `Mon-Fri`, `Fri-Mon` over the end of the week, or one day. */
function rangeFrom(text: string, flag: string): readonly number[] {
  const [first = '', last = first, ...more] = text.split('-')
  if (more.length > 0) throw unknownDay(text, flag)
  const [from, to] = [dayFrom(first, flag), dayFrom(last, flag)]
  const length = ((to - from + 7) % 7) + 1
  return Array.from({ length }, (_, index) => ((from - 1 + index) % 7) + 1)
}

function dayFrom(text: string, flag: string): number {
  const day = DAYS.findIndex((name) => /^[a-z]{3,9}$/i.test(text) && LONG[name].startsWith(text.toLowerCase())) + 1
  if (day === 0) throw unknownDay(text, flag)
  return day
}

const LONG: Readonly<Record<(typeof DAYS)[number], string>> = {
  mon: 'monday',
  tue: 'tuesday',
  wed: 'wednesday',
  thu: 'thursday',
  fri: 'friday',
  sat: 'saturday',
  sun: 'sunday',
}

function unknownDay(text: string, flag: string): Error {
  return usageError(`${flag}: "${text}" is no weekday`, 'They are Mon, Tue, Wed, Thu, Fri, Sat and Sun, also Mon-Fri.')
}

/** A window as it is typed. */
export function windowText({ time_zone: zone, days, from, to }: MaintenanceWindow): string {
  return `${daysText(days)} ${from}-${to} ${zone}`
}

function daysText(days: readonly number[]): string {
  const ascending = days.toSorted((one, other) => one - other)
  if (ascending.length === EVERY_DAY.length) return 'daily'
  const runs = ascending.reduce<number[][]>((found, day) => {
    const run = found.at(-1)
    if (run?.at(-1) !== day - 1) return [...found, [day]]
    run.push(day)
    return found
  }, [])
  return runs.map(runText).join(',')
}

/** Two days that follow each other are named both. */
function runText(run: readonly number[]): string {
  const names = run.map(dayName)
  return names.length < 3 ? names.join(',') : `${names[0]}-${names.at(-1)}`
}

function dayName(day: number): string {
  const name = DAYS[day - 1] ?? ''
  return name.charAt(0).toUpperCase() + name.slice(1)
}
