import { expect } from 'vitest'
import type { ValidCall } from '../scenario.ts'
import { LIST_ORDERS } from '../list-orders.ts'
import { arrangeRows, isPaged, walk, type Row } from './lists.ts'
import type { Rule, Subject } from './rule.ts'

/** Rows that pages of one row are compared on. */
const SINGLES = 3
/** Rows that a list is compared on: the audit log of a world has thousands. */
const ROWS_MAX = 300

/** How lists are cut into pages (S0 convention 5). */
export const pageRules: readonly Rule[] = [
  {
    title: 'lists every row once and in its order, whatever the limit',
    applies: isPaged,
    async check(subject) {
      const call = await arrangeRows(subject)
      const whole = await walk(subject, call, { limit: 200, isEnough: ({ length }) => length >= ROWS_MAX })
      expectOrder(subject, whole)
      const ids = whole.map(idOf)
      expect(new Set(ids).size, 'rows that are listed once').toBe(ids.length)
      const few = Math.min(199, Math.ceil(ids.length / 4))
      expect(await again(subject, call, { limit: few, known: ids })).toEqual(ids)
      expect(await again(subject, call, { limit: 1, known: ids.slice(0, SINGLES) })).toEqual(ids.slice(0, SINGLES))
    },
  },
]

/** Ids of the known rows, as a walk with that limit meets them. Rows that were added since are passed over. */
async function again(
  subject: Subject,
  call: ValidCall,
  { limit, known }: { readonly limit: number; readonly known: readonly string[] },
): Promise<readonly string[]> {
  const meant = new Set(known)
  const isMeant = (row: Row): boolean => meant.has(idOf(row))
  const isPart = limit === 1 || known.length >= ROWS_MAX
  const isEnough = (rows: readonly Row[]): boolean => isPart && rows.filter(isMeant).length >= known.length
  return (await walk(subject, call, { limit, isEnough })).filter(isMeant).map(idOf)
}

/** What identifies a row: its own id comes first in every list; versions of one object are told apart by their numbers. */
function idOf(row: Row): string {
  const id: unknown =
    row['id'] ??
    row['execution_id'] ??
    row['revision_id'] ??
    row['session_id'] ??
    row['cloud_id'] ??
    row['version'] ??
    row['node_id'] ??
    labelOf(row)
  expect(['string', 'number'], 'the row has an id').toContain(typeof id)
  return String(id)
}

/** A label has no id: its object has one of each key. */
function labelOf({ object_id: objectId, qualified_key: key }: Row): string | undefined {
  return typeof objectId === 'string' && typeof key === 'string' ? `${objectId} ${key}` : undefined
}

function expectOrder({ id, operation: { summary } }: Subject, rows: readonly Row[]): void {
  const order = LIST_ORDERS[id]
  expect(order, 'the list has a declared order').toBeDefined()
  if (order === undefined) return
  const isDescending = order.startsWith('-')
  if (summary.includes('newest first')) expect(isDescending, summary).toBe(true)
  const keys = rows.map((row) => keyOf(row[order.replace('-', '')]))
  const sorted = keys.toSorted((a, b) => (a < b ? -1 : Number(a > b)))
  expect(keys).toEqual(isDescending ? sorted.toReversed() : sorted)
}

/** Numbers are in their own order, everything else in that of its text. */
function keyOf(member: unknown): string | number {
  return typeof member === 'number' ? member : String(member)
}
