import type { Style } from './style.ts'
import { exactText, fullLines, isReference, shortText, titles } from './cells.ts'
import { memberOf } from './members.ts'
import { displayWidth, fitted, fittedEnd, padded, wrapped } from './width.ts'

export interface TableOptions {
  readonly columns: readonly string[]
  readonly headers: boolean
  readonly nowMs: number
  readonly style: Style
  /** Columns of the terminal; undefined when nobody looks: then tab-separated, whole and exact. */
  readonly terminal: number | undefined
  /** Ids are shown whole and nothing is cut. */
  readonly isWide: boolean
}

const GAP = '  '
/** Narrower than this, a column says nothing. */
const NARROWEST = 8

/** Rows as lines: aligned for a person, tab-separated for a program. */
export function tableLines(rows: readonly unknown[], options: TableOptions): readonly string[] {
  const head = options.headers ? [titles(options.columns)] : []
  if (options.terminal === undefined) {
    const body = rows.map((row) => options.columns.map((column) => exactText(memberOf(row, column))))
    return [...head, ...body].map((cells) => cells.join('\t'))
  }
  const body = rows.map((row) =>
    options.columns.map((column) => shortText(memberOf(row, column), options.nowMs, options.isWide)),
  )
  const widths = columnWidths({ head, body }, options)
  const line = (cells: readonly string[], paint: (cell: string, index: number) => string): string =>
    cells
      .map((cell, index) => {
        const fit = isReference(cell) ? fittedEnd : fitted
        const short = fit(cell, widths[index] ?? 0)
        return paint(index === cells.length - 1 ? short : padded(short, widths[index] ?? 0), index)
      })
      .join(GAP)
      .trimEnd()
  return [
    ...head.map((cells) => line(cells, (cell) => options.style.bold(cell))),
    ...body
      .flatMap((cells) => linesOf(cells, options.columns, widths))
      .map((cells) => line(cells, (cell) => paintWord(cell, options.style))),
  ]
}

/** Columns with what a person decides about: they are never cut, and take more lines instead. */
const WHOLE: ReadonlySet<string> = new Set(['action.sentence'])

/** The cells of one row in as many lines as its longest whole cell takes. */
function linesOf(
  cells: readonly string[],
  columns: readonly string[],
  widths: readonly number[],
): readonly (readonly string[])[] {
  const parts = cells.map((cell, index) =>
    WHOLE.has(columns[index] ?? '') ? wrapped(cell, widths[index] ?? 0) : [cell],
  )
  const count = Math.max(...parts.map(({ length }) => length))
  return Array.from({ length: count }, (_, at) => parts.map((part) => part[at] ?? ''))
}

/** Columns whose words are typed again to name the row. */
const NAMES: ReadonlySet<string> = new Set(['name', 'slug', 'kid', 'prefix'])

type Lines = readonly (readonly string[])[]

/**
 * Gives each column what it needs. Where that is too much, titles give way first, then the widest of the columns that
 * hold text; what others go by, names, references and ids, is cut last.
 */
function columnWidths({ head, body }: { head: Lines; body: Lines }, options: TableOptions): readonly number[] {
  const terminal = options.isWide ? Infinity : (options.terminal ?? Infinity)
  const cells = widthsOf(body)
  const widths = widthsOf([...head, ...body])
  const isText = options.columns.map(
    (column, index) => !NAMES.has(column) && !body.some((line) => isReference(line[index] ?? '')),
  )
  const floors = [
    widths.map((_, index) => Math.max(cells[index] ?? 0, NARROWEST)),
    widths.map((width, index) => (isText[index] === true ? NARROWEST : width)),
    widths.map(() => NARROWEST),
  ]
  return floors.reduce((now, floor) => narrowed(now, floor, terminal), widths)
}

function widthsOf(lines: Lines): readonly number[] {
  const widths: number[] = []
  for (const line of lines) {
    for (const [index, cell] of line.entries()) widths[index] = Math.max(widths[index] ?? 0, displayWidth(cell))
  }
  return widths
}

/** Takes from the widest column that is above its floor, until the line fits or none is. */
function narrowed(widths: readonly number[], floors: readonly number[], terminal: number): readonly number[] {
  const now = [...widths]
  let excess = now.reduce((sum, width) => sum + width, GAP.length * (now.length - 1)) - terminal
  while (excess > 0) {
    const spare = now.map((width, index) => (width > (floors[index] ?? 0) ? width : 0))
    const widest = Math.max(...spare)
    if (widest === 0) break
    now[spare.indexOf(widest)] = widest - 1
    excess -= 1
  }
  return now
}

const WORDS: Readonly<Record<string, 'good' | 'warn' | 'bad' | 'dim'>> = {
  healthy: 'good',
  allowed: 'good',
  granted: 'good',
  ok: 'good',
  stale: 'warn',
  warning: 'warn',
  unreachable: 'bad',
  denied: 'bad',
  permission_denied: 'bad',
  problem: 'bad',
  internal_error: 'bad',
  never_reported: 'dim',
  '-': 'dim',
}

/** Colours the words that a person looks for; the padding stays inside, which shows nothing. */
export function paintWord(cell: string, style: Style): string {
  const paint = WORDS[cell.trimEnd()]
  return paint === undefined ? cell : style[paint](cell)
}

/** One object as lines of title and value; for a program tab-separated, without titles the values alone. */
export function cardLines(row: unknown, options: TableOptions): readonly string[] {
  const names = titles(options.columns)
  const width = Math.max(0, ...names.map(displayWidth))
  return options.columns.flatMap((column, index) => {
    const value = memberOf(row, column)
    const name = names[index] ?? ''
    if (options.terminal === undefined) return [options.headers ? `${name}\t${exactText(value)}` : exactText(value)]
    const lines = fullLines(value, options.nowMs).map((line) => paintWord(line, options.style))
    if (!options.headers) return lines
    const title = (at: number): string => (at === 0 ? options.style.bold(padded(name, width)) : ' '.repeat(width))
    return lines.map((line, at) => `${title(at)}${GAP}${line}`)
  })
}
