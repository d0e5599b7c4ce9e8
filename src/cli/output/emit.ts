import { usageError } from '../cli-error.ts'
import type { Format, SharedValues } from '../flags.ts'
import type { Io } from '../io.ts'
import { nearest } from '../nearest.ts'
import type { Style } from '../style.ts'
import { isMember, otherMembers } from './cells.ts'
import { references, rowsOf, sorted, withRows } from './members.ts'
import { cardLines, tableLines, type TableOptions } from './table.ts'

/** How an answer is shown to people. In the other formats it is the API's own shape. */
export interface View {
  /** Members, dotted. Empty: all of them. */
  readonly columns: readonly string[]
  /** Members that `-o wide` adds. */
  readonly wide?: readonly string[] | undefined
  /** One object is shown with every member that it has, the columns first. */
  readonly isWhole?: boolean
}

export interface Emission {
  readonly io: Io
  readonly format: Format
  readonly shared: SharedValues
  readonly style: Style
}

/** Writes an answer to stdout in the format asked for. Throws a usage error for unknown columns and bad jq. */
export async function emit(value: unknown, view: View, emission: Emission): Promise<void> {
  const { io, shared } = emission
  const rows = rowsOf(value)
  const ordered = rows && shared.sort !== undefined ? sorted(rows, checkedSort(rows, shared.sort)) : rows
  const shown = ordered === undefined ? value : withRows(value, ordered)
  io.stdout.write(await rendered({ value: shown, rows: ordered, view }, emission))
}

interface Shown {
  readonly value: unknown
  readonly rows: readonly unknown[] | undefined
  readonly view: View
}

async function rendered(shown: Shown, emission: Emission): Promise<string> {
  const { shared, format } = emission
  const isTable = format === 'table' || format === 'wide'
  if (shared.columns && (!isTable || shared.jq !== undefined))
    throw usageError('--columns goes with the table formats only', 'Choose members of JSON with --jq.')
  if (shared.jq !== undefined) return (await import('./jq.ts')).jq(JSON.stringify(shown.value), shared.jq)
  return RENDERERS[format](shown, emission)
}

const RENDERERS: Readonly<Record<Format, (shown: Shown, emission: Emission) => string | Promise<string>>> = {
  table: table,
  wide: table,
  json: ({ value }) => `${JSON.stringify(value ?? null, null, 2)}\n`,
  jsonl: ({ value, rows }) => (rows ?? [value]).map((row) => `${JSON.stringify(row)}\n`).join(''),
  yaml: async ({ value }) => (await import('yaml')).stringify(value, { lineWidth: 0 }),
  name: ({ value, rows }) =>
    references(rows ?? [value])
      .map((name) => `${name}\n`)
      .join(''),
}

function table({ value, rows, view }: Shown, { io, shared, format, style }: Emission): string {
  const listed = rows ?? [value]
  const isWide = format === 'wide'
  const options: TableOptions = {
    columns: chosenColumns({ rows: listed, view, isWide, isOne: rows === undefined }, shared.columns),
    headers: shared['no-headers'] !== true,
    nowMs: io.nowMs(),
    style,
    terminal: io.stdout.isTty ? io.stdout.columns : undefined,
    isWide,
  }
  if (rows?.length === 0 && (io.stdout.isTty || options.columns.length === 0)) return ''
  const lines = rows === undefined ? cardLines(value, options) : tableLines(rows, options)
  return lines.map((line) => `${line}\n`).join('')
}

interface Choosing {
  readonly rows: readonly unknown[]
  readonly view: View
  readonly isWide: boolean
  readonly isOne: boolean
}

function chosenColumns(
  { rows, view, isWide, isOne }: Choosing,
  asked: readonly string[] | undefined,
): readonly string[] {
  const usual = isWide ? [...view.columns, ...(view.wide ?? [])] : view.columns
  const all = [...usual, ...otherMembers(rows, usual)]
  if (asked) return asked.map((column) => checkedColumn(column, { rows, all }))
  if (usual.length === 0 || (isOne && view.isWhole === true)) return all.filter((column) => isMember(rows, column))
  return usual
}

function checkedColumn(column: string, { rows, all }: { rows: readonly unknown[]; all: readonly string[] }): string {
  const plain = column.toLowerCase().replaceAll(/[ -]/g, '_')
  const found = [column, plain, `${plain}_at`, `display_${plain}`].find(
    (one) => all.includes(one) || isMember(rows, one),
  )
  if (found !== undefined) return found
  const near = nearest(plain, all)
  throw usageError(
    `there is no column "${column}"`,
    near === undefined ? `Columns are ${all.join(', ')}.` : `Did you mean ${near}?`,
  )
}

function checkedSort(rows: readonly unknown[], by: string): string {
  if (rows.length === 0) return by
  const descending = by.startsWith('-') ? '-' : ''
  return descending + checkedColumn(by.slice(descending.length), { rows, all: otherMembers(rows, []) })
}
