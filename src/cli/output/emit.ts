import { mistypedError, usageError } from '../errors/cli-error.ts'
import type { Format, SharedValues } from '../argv/flags.ts'
import type { Io } from './io.ts'
import type { Style } from './style.ts'
import { isFilled, isMember, otherMembers, titles } from './cells.ts'
import { isRow, memberOf, references, rowsOf, sorted, withRows } from './members.ts'
import { cardLines, tableLines, type TableOptions } from './table.ts'

/** How an answer is shown to people. In the other formats it is the API's own shape. */
export interface View {
  /** Members, dotted. Empty: all of them. */
  readonly columns: readonly string[]
  /** Members that `-o wide` adds. */
  readonly wide?: readonly string[] | undefined
  /** Members that rows may have, whether or not one has them. */
  readonly members?: readonly string[] | undefined
  /** The member that holds the rows; `items` when absent. */
  readonly rows?: string | undefined
  /** Members that lists leave empty, with those that people look for. */
  readonly empty?: Readonly<Record<string, string>> | undefined
  /** One object is shown with every member that it has, the columns first. */
  readonly isWhole?: boolean
  /** What was asked for, by row: the first column of a table whose rows do not say what they are of. */
  readonly asked?: { readonly title: string; readonly labels: ReadonlyMap<unknown, string> } | undefined
  /** Cells are never cut to fit the terminal. */
  readonly isUncut?: boolean
  /** Columns were checked before a change was sent: one that no row has stays empty. */
  readonly isChecked?: boolean
}

export interface Emission {
  readonly io: Io
  readonly format: Format
  readonly shared: SharedValues
  readonly style: Style
  /** A line on stderr that `--quiet` leaves out. */
  readonly note: (line: string) => void
}

/** Writes an answer to stdout in the format asked for. Throws a usage error for unknown columns and bad jq. */
export async function emit(value: unknown, view: View, emission: Emission): Promise<void> {
  const { io, shared } = emission
  const rows = rowsOf(value, view.rows)
  if (shared.sort !== undefined && rows === undefined) throw unsortable()
  const ordered = rows && shared.sort !== undefined ? sorted(rows, checkedSort(rows, view, shared.sort)) : rows
  const shown = ordered === undefined ? value : withRows(value, ordered, view.rows)
  const text = await rendered({ value: shown, rows: ordered, view }, emission)
  if (text !== '') io.stdout.write(text)
  if (shared.jq !== undefined && shared.watch === undefined) hintAtEmpty({ rows, view }, emission)
}

function unsortable(): Error {
  return usageError('--sort goes with lists only, and the answer is one object', 'Leave --sort out.')
}

/** An answer that is still to come. */
export interface Expected {
  readonly view: View
  readonly isList: boolean
}

/**
 * Throws the usage errors that `emit` would throw for the flags, as far as they are known without the answer. For changes: a
 * refusal after the change would lose what is shown only once.
 */
export async function assertEmittable(
  expected: Expected,
  emission: Pick<Emission, 'format' | 'shared'>,
): Promise<void> {
  const { shared, format } = emission
  const { isList } = expected
  const view = { ...expected.view, isChecked: false }
  if (shared.sort !== undefined && !isList) throw unsortable()
  assertColumnsFit(shared, format)
  if (shared.jq !== undefined) await (await import('./jq.ts')).assertCompiles(shared.jq)
  if (shared.sort !== undefined) checkedSort([], view, shared.sort)
  for (const column of shared.columns ?? [])
    checkedColumn(column, { rows: [], view, isWide: format === 'wide', isOne: !isList })
}

function assertColumnsFit({ columns, jq }: SharedValues, format: Format): void {
  const isTable = format === 'table' || format === 'wide'
  if (columns && (!isTable || jq !== undefined))
    throw usageError('--columns goes with the table formats only', 'Choose members of JSON with --jq.')
}

/** Tells a person who asked for a member that lists leave empty which one has it. */
function hintAtEmpty({ rows = [], view }: Pick<Shown, 'rows' | 'view'>, { io, shared, note }: Emission): void {
  if (!io.stderr.isTty || rows.length === 0) return
  const place = filtersRows({ io, shared }) ? '' : placeOfRows(view)
  for (const [member, other] of Object.entries(view.empty ?? {})) {
    const isAsked = new RegExp(`\\.${member}\\b`).test(shared.jq ?? '')
    if (isAsked && rows.every((row) => memberOf(row, member) === ''))
      note(`.${member} is empty in lists; use ${place}.${other}`)
  }
}

function placeOfRows({ rows = 'items' }: View): string {
  return `.${rows}[]`
}

/** Whether --jq gets each row: where JSON lines were asked for, and not where they are only how a command prints in a pipe. */
function filtersRows({ io, shared }: Pick<Emission, 'io' | 'shared'>): boolean {
  return (shared.output ?? io.env['CTL_OUTPUT']) === 'jsonl'
}

interface Shown {
  readonly value: unknown
  readonly rows: readonly unknown[] | undefined
  readonly view: View
}

async function rendered(shown: Shown, emission: Emission): Promise<string> {
  const { shared, format } = emission
  assertColumnsFit(shared, format)
  if (shared.jq !== undefined) {
    const input = filtersRows(emission) ? RENDERERS.jsonl(shown, emission) : JSON.stringify(shown.value)
    return (await import('./jq.ts')).jq(await input, shared.jq)
  }
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

function table({ value, rows: plain, view: said }: Shown, { io, shared, format, style }: Emission): string {
  const { rows, view } = labelled(plain, said)
  const listed = rows ?? [value]
  const choosing: Choosing = { rows: listed, view, isWide: format === 'wide', isOne: rows === undefined }
  const options: TableOptions = {
    columns: chosenColumns(choosing, shared.columns),
    headers: shared['no-headers'] !== true,
    nowMs: io.nowMs(),
    style,
    terminal: io.stdout.isTty ? io.stdout.columns : undefined,
    isWide: format === 'wide' || view.isUncut === true || shared.columns !== undefined,
  }
  if (rows?.length === 0 && (io.stdout.isTty || options.columns.length === 0)) return ''
  const lines = rows === undefined ? cardLines(value, options) : tableLines(rows, options)
  return lines.map((line) => `${line}\n`).join('')
}

/** Rows and columns with what was asked for in front. */
function labelled(rows: readonly unknown[] | undefined, view: View): Pick<Shown, 'rows' | 'view'> {
  if (view.asked === undefined || rows === undefined) return { rows, view }
  const { title, labels } = view.asked
  const named = rows.map((row) => (isRow(row) ? { [title]: labels.get(row), ...row } : row))
  return { rows: named, view: { ...view, columns: [title, ...view.columns] } }
}

interface Choosing {
  readonly rows: readonly unknown[]
  readonly view: View
  readonly isWide: boolean
  readonly isOne: boolean
}

function chosenColumns(choosing: Choosing, asked: readonly string[] | undefined): readonly string[] {
  const { rows, view, isOne } = choosing
  const usual = usualColumns(choosing)
  const all = [...usual, ...otherMembers(rows, usual)]
  if (asked) return asked.map((column) => checkedColumn(column, choosing))
  if (usual.length === 0) return all
  return isOne && view.isWhole === true ? all.filter((column) => isFilled(rows, column)) : usual
}

function usualColumns({ view, isWide }: Choosing): readonly string[] {
  return isWide ? [...view.columns, ...(view.wide ?? [])] : view.columns
}

/** The column that a person means: by its title as printed, else by its member's name, in any letters. */
function checkedColumn(asked: string, choosing: Choosing): string {
  const { rows, view } = choosing
  const known = knownColumns(choosing)
  const declared = [...view.columns, ...(view.wide ?? [])]
  const named =
    columnTitled(asked, [usualColumns(choosing), declared]) ??
    known.find((column) => column === asked) ??
    columnTitled(asked, [known])
  if (named !== undefined) return named
  if (isMember(rows, asked) || view.isChecked === true || (rows.length === 0 && mayBeMember(asked, view))) return asked
  throw mistypedError(`there is no column "${asked}"`, {
    word: asked,
    known: [...known, ...titles(known).map((one) => one.toLowerCase().replaceAll(' ', '_'))],
    otherwise: `Columns are ${known.join(', ')}.`,
  })
}

/** Whether rows may have a member, as far as the contract says: it names the members, not what is inside them. */
function mayBeMember(asked: string, { members }: View): boolean {
  const [head = '', ...inside] = asked.split('.')
  return members === undefined || (inside.length > 0 && members.includes(head))
}

/** Every column that the rows can have, those that are usually shown first. */
function knownColumns({ rows, view }: Choosing): readonly string[] {
  const named = [...view.columns, ...(view.wide ?? [])]
  const possible = (view.members ?? []).filter((member) => !named.includes(member))
  const known = [...named, ...possible]
  return [...known, ...otherMembers(rows, known)]
}

/** The first column so titled, in tables of these columns: a title depends on which others stand beside it. */
function columnTitled(asked: string, tables: readonly (readonly string[])[]): string | undefined {
  const title = asTitle(asked)
  for (const columns of tables) {
    const found = columns[titles(columns).indexOf(title)] ?? columns.find((column) => asTitle(column) === title)
    if (found !== undefined) return found
  }
  return undefined
}

function asTitle(text: string): string {
  return text
    .trim()
    .replaceAll(/[\s_.-]+/g, ' ')
    .toUpperCase()
}

function checkedSort(rows: readonly unknown[], view: View, by: string): string {
  const descending = by.startsWith('-') ? '-' : ''
  const choosing: Choosing = { rows, view, isWide: false, isOne: false }
  return descending + checkedColumn(by.slice(descending.length), choosing)
}
