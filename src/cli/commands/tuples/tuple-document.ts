import { isMap, isNode, isSeq, LineCounter, parseDocument, type Document } from 'yaml'
import { rowOf, type FileRow } from './tuple-row.ts'

/** Reads a list of tuples in YAML, which has JSON in it, with the line of each. */
export function documentRows(text: string): readonly FileRow[] {
  const lines = new LineCounter()
  const parsed = parseDocument(text, { lineCounter: lines })
  const [error] = parsed.errors
  if (error !== undefined) return [{ line: error.linePos?.[0].line ?? 1, message: firstSentence(error.message) }]
  const { contents } = parsed
  if (contents === null) return []
  if (isMap(contents) && contents.has('subject')) return [rowOf(plain(contents, parsed), 1)]
  const list = isMap(contents) ? contents.get('items') : contents
  if (!isSeq(list)) return [{ line: 1, message: UNKNOWN_FORM }]
  return list.items.map((item) => rowOf(plain(item, parsed), lineOf(item, lines)))
}

const UNKNOWN_FORM = 'is neither JSON lines, nor a YAML list, nor a relationship such as project:ID#viewer@user:ID'

function lineOf(item: unknown, lines: LineCounter): number {
  return lines.linePos(isNode(item) ? (item.range?.[0] ?? 0) : 0).line
}

/** The value of a node; one whose aliases grow without bound has none. */
function plain(item: unknown, parsed: Document): unknown {
  try {
    return isNode(item) ? item.toJS(parsed) : item
  } catch {
    return undefined
  }
}

function firstSentence(message: string): string {
  return (message.split('\n')[0] ?? message).replace(/ at line \d+, column \d+:?$/, '')
}
