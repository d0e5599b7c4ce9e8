/** A JSON object. */
export type Row = Readonly<Record<string, unknown>>

export function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The member at a dotted path; undefined when there is none. */
export function memberOf(row: unknown, path: string): unknown {
  if (isRow(row) && Object.hasOwn(row, path)) return row[path]
  return path
    .split('.')
    .reduce<unknown>((value, key) => (isRow(value) && Object.hasOwn(value, key) ? value[key] : undefined), row)
}

/** The rows of a list answer, in its member of that name or a bare array; undefined when the answer is one object. */
export function rowsOf(value: unknown, member = 'items'): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value
  return isRow(value) && Array.isArray(value[member]) ? value[member] : undefined
}

/** The same answer with other rows. */
export function withRows(value: unknown, rows: readonly unknown[], member = 'items'): unknown {
  return Array.isArray(value) || !isRow(value) ? rows : { ...value, [member]: rows }
}

/** Rows in the order of a member, `-member` for descending; numbers by size, all else by code unit, absent ones last. */
export function sorted(rows: readonly unknown[], by: string): readonly unknown[] {
  const descending = by.startsWith('-')
  const path = descending ? by.slice(1) : by
  const direction = descending ? -1 : 1
  return rows.toSorted((one, other) => {
    const [a, b] = [memberOf(one, path) ?? undefined, memberOf(other, path) ?? undefined]
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
    return direction * compared(a, b)
  })
}

function compared(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [one, other] = [sortText(a), sortText(b)]
  return one < other ? -1 : Number(one > other)
}

function sortText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Members that hold a row's own id: where it is named after its kind, it has no plain one. */
const OWN_IDS = ['id', 'execution_id', 'session_id']

/** The id of a row; undefined when it has none. */
export function idOf(row: unknown): string | undefined {
  const ids = OWN_IDS.map((member) => memberOf(row, member))
  return ids.find((id) => typeof id === 'string')
}

/** Members that hold a handle: what a person typed to create the object. */
export const HANDLES = ['slug', 'alias', 'login', 'handle', 'name', 'email', 'url'] as const

/**
 * The handle of a row, which commands take; undefined where the row has none. Lists have the name of a node in `display_name`
 * (S0), so that it is a handle there. The display name of an identity is never a handle.
 */
export function handleOf(row: unknown): string | undefined {
  const isIdentity = memberOf(row, 'external_subject_pseudonym') !== undefined
  return firstText(row, isIdentity ? HANDLES : [...HANDLES, 'display_name'])
}

/** What a person calls a row: its handle, else the name that decorates it, else its id. */
export function nameOf(row: unknown): string | undefined {
  return handleOf(row) ?? firstText(row, ['display_name', 'id', 'subject'])
}

function firstText(row: unknown, members: readonly string[]): string | undefined {
  const values = members.map((member) => memberOf(row, member))
  return values.find((value): value is string => typeof value === 'string' && value !== '')
}

/** One reference per row that finds it again: its handle where no other row has it, else its id. A release has its version alone. */
export function references(rows: readonly unknown[]): readonly string[] {
  const counts = new Map<string, number>()
  const names = rows.map(handleOf)
  for (const name of names) if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1)
  return rows.flatMap((row, index) => {
    const name = names[index]
    const id = idOf(row) ?? firstText(row, ['version'])
    if (name !== undefined && counts.get(name) === 1) return [name]
    return id === undefined ? [] : [id]
  })
}
