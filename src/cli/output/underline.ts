import type { SelectorError } from '../../shared/selectors/syntax.ts'
import { utf8Length } from '../../shared/selectors/tokens.ts'
import { harmless } from './style.ts'
import { displayWidth } from './width.ts'

/** A character as it is shown, and where it is in the text, in UTF-8 bytes. */
interface Cell {
  readonly shown: string
  readonly width: number
  readonly offset: number
}

/** A part of the text that fits into the terminal, and the column that it begins at. */
interface Excerpt {
  readonly line: string
  readonly startColumn: number
}

/** An error and its place, in bytes of UTF-8. */
export type Fault = Pick<SelectorError, 'offset' | 'length' | 'message'>

const COLUMNS = 80
const CUT = '…'

/**
 * The lines that show errors in a text: the text, and below it for each error carets under its part, with its message. A text that does
 * not fit into the columns is shown for each error from a little before it, cut with `…`. Control characters are shown escaped.
 */
export function underline(text: string, errors: readonly Fault[], columns = COLUMNS): readonly string[] {
  const cells = cellsOf(text)
  const fits = widthOf(cells) <= columns
  const whole: Excerpt = { line: cells.map(({ shown }) => shown).join(''), startColumn: 0 }
  const blocks = errors.map((error) => {
    const column = widthOf(cells.filter(({ offset }) => offset < error.offset))
    const excerpt = fits ? whole : excerptAt(cells, column, columns)
    return [...(fits ? [] : [excerpt.line]), caretLine(cells, error, { ...excerpt, column })]
  })
  return [...(fits ? [whole.line] : []), ...blocks.flat()]
}

function cellsOf(text: string): readonly Cell[] {
  const cells: Cell[] = []
  let offset = 0
  for (const character of text) {
    const shown = harmless(character)
    cells.push({ shown, width: displayWidth(shown), offset })
    offset += utf8Length(character)
  }
  return cells
}

function widthOf(cells: readonly Cell[]): number {
  return cells.reduce((sum, { width }) => sum + width, 0)
}

/** Begins a third of the columns before the error. */
function excerptAt(cells: readonly Cell[], column: number, columns: number): Excerpt {
  const from = Math.max(0, column - Math.floor(columns / 3))
  let line = ''
  let [at, start] = [0, 0]
  for (const { shown, width } of cells) {
    if (at < from) start = at + width
    else if (at + width - start <= columns - 2) line += shown
    else return { line: `${start > 0 ? CUT : ''}${line}${CUT}`, startColumn: start > 0 ? start - 1 : 0 }
    at += width
  }
  return { line: `${start > 0 ? CUT : ''}${line}`, startColumn: start > 0 ? start - 1 : 0 }
}

/** At least one caret, also at the end of the text, and none beyond the line that is shown. */
function caretLine(
  cells: readonly Cell[],
  { offset, length, message }: Fault,
  { line, startColumn, column }: Excerpt & { readonly column: number },
): string {
  const wide = widthOf(cells.filter((cell) => cell.offset >= offset && cell.offset < offset + length))
  const before = column - startColumn
  const carets = Math.max(1, Math.min(wide, displayWidth(line) - before))
  return `${' '.repeat(before)}${'^'.repeat(carets)} ${message}`
}
