import type { Style } from '../style.ts'
import { exactText, fullText, shortText, titles } from './cells.ts'
import { memberOf } from './members.ts'
import { displayWidth, fitted, padded } from './width.ts'

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
  const widths = columnWidths([...head, ...body], options.isWide ? Infinity : options.terminal)
  const line = (cells: readonly string[], paint: (cell: string, index: number) => string): string =>
    cells
      .map((cell, index) => {
        const short = fitted(cell, widths[index] ?? 0)
        return paint(index === cells.length - 1 ? short : padded(short, widths[index] ?? 0), index)
      })
      .join(GAP)
      .trimEnd()
  return [
    ...head.map((cells) => line(cells, (cell) => options.style.bold(cell))),
    ...body.map((cells) => line(cells, (cell) => paintWord(cell, options.style))),
  ]
}

/** Gives each column what it needs; where that is too much, takes from the widest. */
function columnWidths(lines: readonly (readonly string[])[], terminal: number): number[] {
  const widths: number[] = []
  for (const line of lines) {
    for (const [index, cell] of line.entries()) widths[index] = Math.max(widths[index] ?? 0, displayWidth(cell))
  }
  let excess = widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1)) - terminal
  while (excess > 0) {
    const widest = Math.max(...widths)
    if (widest <= NARROWEST) break
    widths[widths.indexOf(widest)] = widest - 1
    excess -= 1
  }
  return widths
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
  return options.columns.map((column, index) => {
    const value = memberOf(row, column)
    if (options.terminal === undefined) {
      return options.headers ? `${names[index] ?? ''}\t${exactText(value)}` : exactText(value)
    }
    const text = paintWord(fullText(value, options.nowMs), options.style)
    return options.headers ? `${options.style.bold(padded(names[index] ?? '', width))}${GAP}${text}` : text
  })
}
