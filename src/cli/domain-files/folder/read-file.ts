import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { isRow } from '../../output/members.ts'
import type * as YamlLibrary from 'yaml'
import type { LineCounter, Document as YamlDocument, visit as visitNodes } from 'yaml'

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
  readonly placeOf: (path: readonly (string | number)[]) => { readonly line: number; readonly column: number }
}

/** What git leaves where two changes meet. */
const CONFLICT = /^<{7} /m
const CONFLICT_FAULT = 'a conflict of a merge; keep one side, and remove the lines with <<<<<<<, ======= and >>>>>>>'
const START = { line: 1, column: 1 }

/** Reads one YAML document with the members of an object. Aliases, tags and several documents are faults. */
export async function readDocument(folder: string, file: string): Promise<ReadFile | readonly FileFault[]> {
  const text = await boundedText(join(folder, file))
  if (typeof text !== 'string') return [{ file, ...START, message: text.message }]
  const conflict = CONFLICT.exec(text)
  if (conflict !== null)
    return [{ file, line: text.slice(0, conflict.index).split('\n').length, column: 1, message: CONFLICT_FAULT }]
  const yaml = await import('yaml')
  const { document, second, lines } = parsed(yaml, text)
  if (document === undefined) return [{ file, ...START, message: 'the file is empty; expected "kind: …"' }]
  const [wrong] = wrongsOf(document, { visit: yaml.visit, second: second?.range[0] })
  if (wrong !== undefined) return [{ file, ...placeAt(lines, wrong.at), message: wrong.message }]
  const value: unknown = document.toJS()
  if (!isRow(value)) return [{ file, ...START, message: 'expected members, "name: value"' }]
  return { file, value, placeOf: (path) => placeInText(yaml, text, path) }
}

function parsed({ parseAllDocuments, LineCounter }: typeof YamlLibrary, text: string) {
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  const [document, second] = Array.isArray(documents) ? documents : []
  return { document, second, lines }
}

/** Reads the text again: the trees of all files of a large set would take a gigabyte, and faults are few. */
function placeInText(
  yaml: typeof YamlLibrary,
  text: string,
  path: readonly (string | number)[],
): ReturnType<typeof placeIn> {
  const { document, lines } = parsed(yaml, text)
  return document === undefined ? START : placeIn(document, lines, path)
}

interface Wrong {
  readonly at: number
  readonly message: string
}

/** What is no YAML of a set, in the order of its weight. A fault of the syntax may be the cause of those after it. */
function wrongsOf(
  document: Yaml,
  { visit, second }: { readonly visit: typeof visitNodes; readonly second: number | undefined },
): readonly Wrong[] {
  const wrongs: Wrong[] = [...document.errors, ...document.warnings].map(({ message, pos: [at] }) => ({ at, message }))
  if (second !== undefined) wrongs.push({ at: second, message: 'a second document; expected one object in a file' })
  visit(document, {
    Alias: (_key, { range }) => void wrongs.push({ at: range?.[0] ?? 0, message: 'an alias; write the value itself' }),
  })
  return wrongs
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

function placeAt(lines: LineCounter, at: number): Pick<FileFault, 'line' | 'column'> {
  const { line, col } = lines.linePos(at)
  return { line: Math.max(1, line), column: Math.max(1, col) }
}

type Yaml = YamlDocument.Parsed

/** The place of a member, else of the nearest one around it. */
function placeIn(
  document: Yaml,
  lines: LineCounter,
  path: readonly (string | number)[],
): { readonly line: number; readonly column: number } {
  for (let length = path.length; length > 0; length -= 1) {
    const at = startOf(document, path.slice(0, length))
    if (at === undefined) continue
    return placeAt(lines, at)
  }
  return START
}

/** Where the key of a member begins, or an entry of a list. */
function startOf(document: Yaml, path: readonly (string | number)[]): number | undefined {
  const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  const items = listIn(parent, 'items')
  const last = path.at(-1)
  const item: unknown = typeof last === 'number' ? items[last] : items.map(keyNode).find((key) => String(key) === last)
  const [start] = listIn(item, 'range')
  return typeof start === 'number' ? start : undefined
}

function keyNode(pair: unknown): unknown {
  return typeof pair === 'object' && pair !== null && 'key' in pair ? pair.key : undefined
}

function listIn(node: unknown, member: string): readonly unknown[] {
  const list: unknown = typeof node === 'object' && node !== null ? Reflect.get(node, member) : undefined
  return Array.isArray(list) ? list : []
}
