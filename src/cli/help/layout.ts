import { displayWidth, padded } from '../output/width.ts'
import type { Style } from '../output/style.ts'

/** Lines of help are never longer than this: too long to read. */
const WIDEST = 100
/** A name longer than this gets a line of its own. */
const NAME_WIDEST = 34

export interface Layout {
  readonly style: Style
  readonly columns: number
}

/** A name and what is said of it. */
export type Entry = readonly [name: string, text: string]

/** Blocks of lines with an empty line between them; empty blocks leave no trace. */
export function joined(blocks: readonly (readonly string[])[]): string {
  const filled = blocks.filter((block) => block.length > 0)
  return `${filled.map((block) => block.join('\n')).join('\n\n')}\n`
}

/** A titled block of entries; nothing when there are none. */
export function section(title: string, entries: readonly Entry[], layout: Layout): readonly string[] {
  return entries.length === 0 ? [] : [layout.style.bold(title), ...entryLines(entries, layout)]
}

/** Entries in two columns, the second wrapped. */
export function entryLines(entries: readonly Entry[], { columns }: Layout): readonly string[] {
  const left = Math.min(NAME_WIDEST, Math.max(...entries.map(([name]) => displayWidth(name))))
  const indent = ' '.repeat(left + 4)
  return entries.flatMap(([name, text]) => {
    const [first = '', ...others] = wrapped(text, Math.min(columns, WIDEST) - left - 4)
    const isLong = displayWidth(name) > left
    const head = isLong ? [`  ${name}`, indent + first] : [`  ${padded(name, left)}  ${first}`]
    return [...head, ...others.map((line) => indent + line)].map((line) => line.trimEnd())
  })
}

/** Text in lines of at most so many columns, broken between words. */
export function wrapped(text: string, columns: number): readonly string[] {
  const width = Math.min(columns, WIDEST)
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    const fits = last !== undefined && displayWidth(last) + displayWidth(word) < width
    if (fits) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
