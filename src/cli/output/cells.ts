import { shortDuration } from '../argv/duration.ts'
import { harmless } from './style.ts'
import { isRow, memberOf } from './members.ts'

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
/** `group:<uuid>#member`. */
const REFERENCE = /^([a-z][a-z_-]*:)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{4}([0-9a-f]{8})(#\w+)?$/i

/** A reference or an id, whole or as a table shortens it. */
const SHOWN_REFERENCE = /^(?:[a-z][a-z_-]*:[^\s:]+|[0-9a-f]{8}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/i

/** How many of an id's digits a table shows: the last ones, since UUIDv7s of one day begin alike. */
const ID_DIGITS = 8

/** A value as one line of plain text, whole and exact. */
export function exactText(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return harmless(value)
  if (Array.isArray(value)) return value.map(exactText).join(value.some(isRow) ? ';' : ',')
  if (isPackage(value)) return packageText(value)
  if (isRow(value)) return pairs(value)
  return JSON.stringify(value)
}

interface Package {
  readonly source: string
  readonly version: string
  readonly origin?: string
}

/** Whether a value is a package of a provider configuration. */
function isPackage(value: unknown): value is Package {
  if (!isRow(value) || Object.keys(value).some((key) => !['source', 'version', 'origin'].includes(key))) return false
  return typeof value['source'] === 'string' && typeof value['version'] === 'string'
}

/** `oci://…@v1.4`, as a person types it; and where it comes from, unless that is the usual place. */
function packageText({ source, version, origin }: Package): string {
  return harmless(`${source}@${version}${origin === 'override' ? ' (override)' : ''}`)
}

function pairs(row: Readonly<Record<string, unknown>>): string {
  const flat = Object.values(row).every((value) => !isRow(value) && !Array.isArray(value))
  if (!flat) return harmless(JSON.stringify(row))
  return Object.entries(row)
    .map(([key, value]) => `${harmless(key)}=${exactText(value)}`)
    .join(',')
}

/** A value for a person's table: instants relative to now, ids by their end unless it is wide, `-` for nothing. */
export function shortText(value: unknown, nowMs: number, isWide = false): string {
  if (typeof value === 'string' && INSTANT.test(value)) return relative(value, nowMs)
  if (typeof value === 'string' && !isWide) return shortReference(value)
  return exactText(value) || '-'
}

/** An id by its end, alone or in a reference to it; both are understood where one is asked for. */
function shortReference(text: string): string {
  if (UUID.test(text)) return text.slice(-ID_DIGITS)
  return harmless(text.replace(REFERENCE, '$1$2$3')) || '-'
}

/** Tells whether a cell is what others go by. */
export function isReference(cell: string): boolean {
  return SHOWN_REFERENCE.test(cell)
}

/** A value for a person's card: exact, with instants explained; objects in a list have a line each. */
export function fullLines(value: unknown, nowMs: number): readonly string[] {
  if (Array.isArray(value) && value.some(isRow))
    return value.map((item) => (isRow(item) ? described(item, nowMs) : fullText(item, nowMs)))
  if (isRow(value) && Object.values(value).some((member) => isRow(member) || Array.isArray(member)))
    return Object.entries(value).flatMap(([key, member]) =>
      fullLines(member, nowMs).map((line) => `${harmless(key)} ${line}`),
    )
  return [fullText(value, nowMs)]
}

function fullText(value: unknown, nowMs: number): string {
  if (typeof value === 'string' && INSTANT.test(value)) return `${value} (${relative(value, nowMs)})`
  if (Array.isArray(value)) return value.map(exactText).join(', ') || '-'
  return exactText(value) || '-'
}

/** `kid k1, created_at 2026-02-01T11:00:00.000Z (1h ago)`: members that say nothing are left out. */
function described(row: Readonly<Record<string, unknown>>, nowMs: number): string {
  if (isPackage(row)) return packageText(row)
  const members = Object.entries(row).filter(([, value]) => exactText(value) !== '')
  return members.map(([key, value]) => `${harmless(key)} ${fullText(value, nowMs)}`).join(', ') || '-'
}

/** `3m ago`, `in 89d`, `now`. */
export function relative(instant: string, nowMs: number): string {
  const seconds = Math.round((Date.parse(instant) - nowMs) / 1000)
  if (Number.isNaN(seconds)) return harmless(instant)
  if (Math.abs(seconds) < 1) return 'now'
  return seconds < 0 ? `${shortDuration(seconds)} ago` : `in ${shortDuration(seconds)}`
}

/**
 * Titles of columns: `last_heartbeat_at` is LAST HEARTBEAT, `display_name` is NAME, `provider_packages` is PACKAGES, `credential.type` is CREDENTIAL TYPE.
 * Two columns that would get the same title keep their long ones.
 */
export function titles(columns: readonly string[]): readonly string[] {
  const short = columns.map((column) => spaced(column.replace(/^(?:display|provider)_/, '').replace(/(.)_at$/, '$1')))
  return short.map((title, index) =>
    short.indexOf(title) === short.lastIndexOf(title) ? title : spaced(columns[index] ?? title),
  )
}

function spaced(column: string): string {
  return column.replaceAll(/[_.]/g, ' ').toUpperCase()
}

/** Members that no column names, whole or in part, in the order in which rows first show them. */
export function otherMembers(rows: readonly unknown[], columns: readonly string[]): readonly string[] {
  const found = new Set<string>()
  for (const row of rows) if (isRow(row)) for (const member of Object.keys(row)) found.add(member)
  const named = new Set(columns.flatMap((column) => [column, column.replace(/\.[^]*$/, '')]))
  return [...found].filter((member) => !named.has(member))
}

/** Tells whether any row has the member. */
export function isMember(rows: readonly unknown[], column: string): boolean {
  return rows.some((row) => memberOf(row, column) !== undefined)
}

/** Tells whether the member says anything: S0 keeps some that are always empty texts. */
export function isFilled(rows: readonly unknown[], column: string): boolean {
  return rows.some((row) => ![undefined, ''].includes(memberOf(row, column) as undefined))
}
