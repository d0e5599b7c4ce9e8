import { createHash } from 'node:crypto'
import { isRow } from '../output/members.ts'

/** JSON with sorted members: equal values have equal texts. Members that are undefined are left out. */
export function canonical(value: unknown): string {
  return JSON.stringify(sortedValue(value)) ?? 'null'
}

/** The SHA-256 of a value's canonical text, in hexadecimal digits. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex')
}

export function isSame(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other)
}

/** The same value with the members of its objects in alphabetical order. */
export function sortedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedValue)
  if (!isRow(value)) return value
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(entries.toSorted(byName).map(([name, member]) => [name, sortedValue(member)]))
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : Number(one > other)
}
