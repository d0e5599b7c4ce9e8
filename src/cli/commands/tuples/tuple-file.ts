import { relationshipRow, RELATIONSHIP_START } from './relationship-text.ts'
import type { Fault, TupleRow } from './tuple-request.ts'
import { rowOf, type FileRow } from './tuple-row.ts'
import { sameTuples } from './tuple-rules.ts'

/** What a file of tuples holds: rows that may be sent, and what is wrong with the others, by line. */
export interface TupleFile {
  readonly rows: readonly TupleRow[]
  readonly faults: readonly Fault[]
}

/**
 * Reads tuples in the form that the text shows itself: JSON lines, a JSON or YAML list (also under `items`, as lists are
 * printed), or relationships as SpiceDB writes them. Each row is held against the schema of this version; a tuple that
 * the text has twice is a fault, since only one of them could be written.
 */
export async function readTuples(text: string): Promise<TupleFile> {
  const read = await readerOf(text)(text)
  const rows: TupleRow[] = []
  const faults: Fault[] = []
  for (const row of read) {
    if ('tuple' in row) rows.push(row)
    else faults.push(row)
  }
  return { rows, faults: [...faults, ...sameTuples(rows)].toSorted((one, other) => one.line - other.line) }
}

type Reader = (text: string) => readonly FileRow[] | Promise<readonly FileRow[]>

function readerOf(text: string): Reader {
  const start = firstLine(text)
  if (start.startsWith('{') && !isDocument(text)) return jsonLines
  if (RELATIONSHIP_START.test(start)) return relationships
  return async (whole) => (await import('./tuple-document.ts')).documentRows(whole)
}

const COMMENT = /^(#|\/\/)/

/** The first line that says something. */
function firstLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.find((line) => line !== '' && line !== '---' && !COMMENT.test(line)) ?? ''
}

/** Whether the whole text is one JSON value. */
function isDocument(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function jsonLines(text: string): readonly FileRow[] {
  return linesOf(text, /^$/).map(([line, content]) => {
    const value = parsed(content)
    return value === undefined ? { line, message: 'is not JSON' } : rowOf(value, line)
  })
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function relationships(text: string): readonly FileRow[] {
  return linesOf(text, /^$|^#|^\/\//).map(([line, content]) => relationshipRow(content, line))
}

/** Trimmed lines with their numbers, those left out that say nothing. */
function linesOf(text: string, empty: RegExp): readonly (readonly [line: number, content: string])[] {
  const numbered = text.split('\n').map((line, index) => [index + 1, line.trim()] as const)
  return numbered.filter(([, line]) => !empty.test(line))
}
