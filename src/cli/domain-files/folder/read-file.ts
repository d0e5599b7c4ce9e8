import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { isRow } from '../../output/members.ts'
import type { LineCounter, ParsedNode, Document as YamlDocument } from 'yaml'

/** A file that holds more is no document of a set. */
const BYTES_MAX = 4 * 1024 * 1024

/** Something wrong in a file, at its place. */
export interface FileFault {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly message: string
  /** An unknown word, with those that are known. */
  readonly unknown?: { readonly word: string; readonly known: readonly string[] }
}

/** A file as it was read: its members, and where each of them is. */
export interface ReadFile {
  readonly file: string
  readonly value: Readonly<Record<string, unknown>>
  placeOf(path: readonly (string | number)[]): { readonly line: number; readonly column: number }
}

const START = { line: 1, column: 1 }

/** Reads one YAML document with the members of an object. Aliases, tags and several documents are faults. */
export async function readDocument(folder: string, file: string): Promise<ReadFile | readonly FileFault[]> {
  const text = await boundedText(join(folder, file))
  if (typeof text !== 'string') return [{ file, ...START, message: text.message }]
  const { parseAllDocuments, LineCounter, visit } = await import('yaml')
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  const [document, second] = Array.isArray(documents) ? documents : []
  if (document === undefined) return [{ file, ...START, message: 'the file is empty; expected "kind: …"' }]
  const faults = [...document.errors, ...document.warnings].map(({ message, pos: [at] }) =>
    fault(file, lines, at, message),
  )
  if (faults.length > 0) return faults
  if (second !== undefined)
    return [fault(file, lines, second.range[0], 'a second document; expected one object in a file')]
  let alias: number | undefined
  visit(document, { Alias: (_key, node) => void (alias ??= node.range?.[0] ?? 0) })
  if (alias !== undefined) return [fault(file, lines, alias, 'an alias; write the value itself')]
  const value: unknown = document.toJS()
  if (!isRow(value)) return [{ file, ...START, message: 'expected members, "name: value"' }]
  return { file, value, placeOf: (path) => placeIn(document, lines, path) }
}

async function boundedText(path: string): Promise<string | { readonly message: string }> {
  const handle = await open(path).catch((cause: unknown) => cause)
  if (handle instanceof Error)
    return { message: `cannot be read (${'code' in handle ? String(handle.code) : 'unknown'})` }
  const file = handle as Awaited<ReturnType<typeof open>> // What is no failure is the open file.
  try {
    const { size } = await file.stat()
    if (size > BYTES_MAX) return { message: `has ${size} bytes; a file has at most ${BYTES_MAX}` }
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(await file.readFile())
  } catch (cause) {
    if (cause instanceof TypeError) return { message: 'is no UTF-8 text' }
    throw cause
  } finally {
    await file.close()
  }
}

function fault(file: string, lines: LineCounter, at: number, message: string): FileFault {
  const { line, col } = lines.linePos(at)
  return { file, line: Math.max(1, line), column: Math.max(1, col), message }
}

type Yaml = YamlDocument.Parsed<ParsedNode>

/** The place of a member, else of the nearest one around it. */
function placeIn(
  document: Yaml,
  lines: LineCounter,
  path: readonly (string | number)[],
): { readonly line: number; readonly column: number } {
  for (let length = path.length; length > 0; length -= 1) {
    const at = startOf(document, path.slice(0, length))
    if (at === undefined) continue
    const { line, col } = lines.linePos(at)
    return { line, column: col }
  }
  return START
}

/** Where the key of a member begins, or an entry of a list. */
function startOf(document: Yaml, path: readonly (string | number)[]): number | undefined {
  const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  const last = path.at(-1)
  if (typeof parent !== 'object' || parent === null || !('items' in parent) || !Array.isArray(parent.items))
    return undefined
  const item: unknown =
    typeof last === 'number' ? parent.items[last] : parent.items.find((pair) => String(pair?.key) === last)?.key
  if (typeof item !== 'object' || item === null || !('range' in item) || !Array.isArray(item.range)) return undefined
  return typeof item.range[0] === 'number' ? item.range[0] : undefined
}
