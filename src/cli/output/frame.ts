import { stripVTControlCharacters } from 'node:util'
import { displayWidth } from './width.ts'

/** The first lines of a text that a terminal shows without scrolling, and how many more there are. */
export function fittedFrame(text: string, terminal: { readonly rows: number; readonly columns: number }): string {
  const lines = text.replace(/\n$/, '').split('\n').map(afterReturn)
  // The line below the text is the cursor's.
  const rowsMax = Math.max(2, terminal.rows - 1)
  const heights = lines.map((line) => heightOf(line, terminal.columns))
  if (sum(heights) <= rowsMax) return `${lines.join('\n')}\n`
  let fitting = 0
  for (let height = 0; height + (heights[fitting] ?? 0) <= rowsMax - 1; fitting += 1) height += heights[fitting] ?? 0
  return `${[...lines.slice(0, fitting), `… ${lines.length - fitting} more lines`].join('\n')}\n`
}

/** What stays of a line that was written over: progress redraws itself so. */
function afterReturn(line: string): string {
  return line.slice(line.lastIndexOf('\r') + 1)
}

function heightOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(displayWidth(stripVTControlCharacters(line)) / Math.max(1, columns)))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
