import type { Scalar } from 'yaml'
import type { Position } from '../language/schema-error.ts'

/** A text of the file: a block of several lines or one string. */
export interface SourceText {
  readonly text: string
  /** Position in the file of its first character. */
  readonly at: Position
  /** Position in the file of a line and column of the text, counted from 1. */
  readonly locate: (position: Position) => Position
}

/** The lines of a file. */
export interface SourceLines {
  readonly text: string
  readonly lines: readonly string[]
  /** Position of an offset, in UTF-16 units from 0. */
  readonly at: (offset: number) => Position
}

export function createSourceLines(text: string): SourceLines {
  const lines = text.split(/\r\n|\n|\r/)
  const starts = [0, ...[...text.matchAll(/\r\n|\n|\r/g)].map(({ index, 0: end }) => index + end.length)]
  return {
    text,
    lines,
    at(offset) {
      let low = 0
      let high = starts.length
      while (high - low > 1) {
        const middle = (low + high) >> 1
        if ((starts[middle] ?? 0) <= offset) low = middle
        else high = middle
      }
      return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
    },
  }
}

/** Maps positions in a YAML scalar to positions in the file, by the style of the scalar. */
export function mapScalar(source: SourceLines, scalar: Scalar, text: string): SourceText {
  const offset = scalar.range?.[0] ?? 0
  const at = source.at(offset)
  if (scalar.type === 'BLOCK_LITERAL' || scalar.type === 'BLOCK_FOLDED') {
    const values = text.split('\n')
    const isLiteral = scalar.type === 'BLOCK_LITERAL'
    const places = isLiteral ? values.map((_, index) => at.line + index) : foldedPlaces(source.lines, at.line, values)
    return { text, at, locate: locateIn(source.lines, values, places) }
  }
  const raw = source.text.slice(offset, scalar.range?.[1] ?? offset)
  if (raw === text) return { text, at, locate: shifter(at, 0) }
  if (raw.slice(1, -1) === text) return { text, at, locate: shifter(at, 1) }
  // With escapes or folded lines, only the position of the beginning is known.
  return { text, at, locate: () => at }
}

const shifter =
  ({ line, column }: Position, by: number) =>
  (position: Position): Position => ({ line, column: column + by + position.column - 1 })

/**
 * The line of the file, from 0, in which each line of a folded block begins. A line of the block may span several lines
 * of the file.
 */
function foldedPlaces(lines: readonly string[], from: number, values: readonly string[]): number[] {
  let next = from
  return values.map((value) => {
    const wanted = value.trim().length
    if (wanted === 0) return next
    while (next < lines.length && lines[next]?.trim() === '') next++
    const place = next
    for (let got = -1; got < wanted && next < lines.length; next++) got += (lines[next]?.trim().length ?? 0) + 1
    return place
  })
}

function locateIn(
  lines: readonly string[],
  values: readonly string[],
  places: readonly number[],
): (position: Position) => Position {
  return ({ line, column }) => {
    const place = places[line - 1] ?? 0
    const found = lines[place]?.trimEnd() ?? ''
    const value = values[line - 1]?.trimEnd() ?? ''
    const indent = found.endsWith(value) ? found.length - value.length : found.length - found.trimStart().length
    return { line: place + 1, column: indent + column }
  }
}
