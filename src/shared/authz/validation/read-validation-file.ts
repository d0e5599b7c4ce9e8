import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseAllDocuments,
  type Document,
  type Node,
  type Scalar,
  type YAMLMap,
} from 'yaml'
import { nearest } from '../../nearest.ts'
import { createSourceLines, mapScalar, type SourceLines, type SourceText } from './source-map.ts'
import {
  ASSERTION_KINDS,
  type FileFault,
  type ValidationFile,
  type WrittenAssertion,
  type WrittenExpectation,
} from './validation-file.ts'
import { DEPTH_MAX, tooDeepAt } from './yaml-depth.ts'

const SECTIONS = ['schema', 'schemaFile', 'relationships', 'assertions', 'validation'] as const

/** Maximum of reported unknown keys, and of characters of each. */
const WARNINGS_MAX = 20
const NAME_MAX = 64

/** Maximum of reported YAML errors: the first ones must be fixed first. */
const YAML_ERRORS_MAX = 5
const REPEATED_MAX = 20

/**
 * Reads the YAML of a validation file. As SpiceDB's tools, it skips unknown sections; here they are warnings. Never
 * throws: errors are in `faults`.
 */
export function readValidationFile(text: string): ValidationFile {
  const source = createSourceLines(text)
  const reader = createReader(source)
  const root = parseRoot(source, reader)
  const sections = root === undefined ? new Map<string, Node>() : reader.entries(root, SECTIONS, 'a section')
  const schema = reader.text(sections.get('schema'), 'the text of a schema')
  const schemaFile = reader.text(sections.get('schemaFile'), 'the path of a schema file')
  const file = {
    schema,
    schemaFile,
    relationships: reader.text(sections.get('relationships'), 'relationships, one a line'),
    assertions: assertionsOf(reader, sections.get('assertions')),
    expectations: expectationsOf(reader, sections.get('validation')),
  }
  if (reader.faults.length === 0) requireSchema(reader, file)
  return { ...file, faults: reader.faults, warnings: reader.warnings }
}

function requireSchema(
  { faults }: Reader,
  { schema, schemaFile }: Pick<ValidationFile, 'schema' | 'schemaFile'>,
): void {
  if ((schema?.text ?? '') !== '' && schemaFile !== undefined) {
    faults.push({ ...schemaFile.at, kind: 'yaml', message: 'expected either "schema" or "schemaFile", found both' })
  } else if ((schema?.text ?? '') === '' && schemaFile === undefined) {
    faults.push({ line: 1, column: 1, kind: 'yaml', message: 'expected "schema" or "schemaFile", found neither' })
  }
}

function parseRoot(source: SourceLines, { faults, warnings }: Reader): YAMLMap | undefined {
  const [first, second] = documentsOf(source, faults)
  const errors = (first?.errors ?? []).map(({ message, pos }): FileFault => {
    // The parser recurses by indentation, and throws this message when its stack overflows.
    const said = message.startsWith('Maximum call stack') ? TOO_DEEP : `expected YAML: ${lowerFirst(message)}`
    return { ...source.at(pos[0]), kind: 'yaml', message: said }
  })
  faults.push(...new Map(errors.map((error) => [`${error.line}: ${error.message}`, error])).values())
  faults.splice(YAML_ERRORS_MAX)
  if (faults.length > 0 || first === undefined) return undefined
  if (second !== undefined) {
    const message = 'only the first YAML document of the file is read'
    warnings.push({ ...source.at(beginOf(second)), kind: 'yaml', message })
  }
  const { contents } = first
  if (isMap(contents)) return contents
  const message = `expected a mapping with ${SECTIONS.join(', ')}, found ${kindOf(contents)}`
  faults.push({ ...source.at(beginOf(contents)), kind: 'yaml', message })
  return undefined
}

const beginOf = (part: Pick<Node, 'range'> | Pick<Document, 'range'> | null): number => part?.range?.[0] ?? 0

const TOO_DEEP = `expected YAML that is nested at most ${DEPTH_MAX} deep`

function documentsOf({ text, at }: SourceLines, faults: FileFault[]): readonly Document[] {
  const tooDeep = tooDeepAt(text)
  if (tooDeep !== undefined) {
    faults.push({ ...at(tooDeep), kind: 'yaml', message: TOO_DEEP })
    return []
  }
  const parsed = parseAllDocuments(text, { uniqueKeys: false, prettyErrors: false, logLevel: 'silent' })
  return 'empty' in parsed ? [] : parsed
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** Reads nodes as the expected kinds, and records a fault for every other kind. */
interface Reader {
  readonly faults: FileFault[]
  readonly warnings: FileFault[]
  /** The values of a mapping by key, without empty ones. Unknown keys are warnings, duplicate ones are faults. */
  entries(map: YAMLMap, known: readonly string[], what: string): Map<string, Node>
  map(node: Node | undefined, what: string): YAMLMap | undefined
  /** The texts of a list. */
  texts(node: Node | undefined, what: string): readonly SourceText[]
  text(node: Node | undefined, what: string): SourceText | undefined
  /** Records a fault for a duplicate. */
  repeated(at: { readonly line: number; readonly column: number }, name: string): void
  resolved(node: unknown): Node | undefined
  position(node: Node): { readonly line: number; readonly column: number }
}

function createReader(source: SourceLines): Reader {
  const faults: FileFault[] = []
  const warnings: FileFault[] = []
  const anchors = new Map<string, Node>()
  const position = (node: Node) => source.at(beginOf(node))

  function mismatch(node: Node, what: string): undefined {
    faults.push({ ...position(node), kind: 'yaml', message: `expected ${what}, found ${kindOf(node)}` })
    return undefined
  }

  function repeated(at: { readonly line: number; readonly column: number }, name: string): void {
    if (faults.length >= REPEATED_MAX) return
    faults.push({ ...at, kind: 'yaml', message: `expected "${name}" once, found it again` })
  }

  /** Anchors are recorded in reading order, so that an alias refers to an earlier one. */
  function resolved(node: unknown): Node | undefined {
    if (isAlias(node)) return anchors.get(node.source) ?? mismatch(node, 'an anchor of that name before it')
    if (!isMap(node) && !isSeq(node) && !isScalar(node)) return undefined
    if (node.anchor !== undefined) anchors.set(node.anchor, node)
    return node
  }

  function entries(map: YAMLMap, known: readonly string[], what: string): Map<string, Node> {
    const found = new Map<string, Node>()
    const seen = new Set<string>()
    for (const { key, value } of map.items) {
      const named = resolved(key)
      if (!isScalar(named)) continue
      const name = scalarText(named)
      if (seen.has(name)) repeated(position(named), name)
      seen.add(name)
      if (!known.includes(name) && warnings.length < WARNINGS_MAX) {
        warnings.push({ ...position(named), kind: 'yaml', message: unknownKey(name.slice(0, NAME_MAX), known, what) })
      }
      const node = resolved(value)
      if (node !== undefined && !isEmpty(node)) found.set(name, node)
    }
    return found
  }

  function text(node: Node | undefined, what: string): SourceText | undefined {
    if (node === undefined || isEmpty(node)) return undefined
    if (!isScalar(node)) return mismatch(node, what)
    return mapScalar(source, node, scalarText(node))
  }

  return {
    faults,
    warnings,
    entries,
    text,
    repeated,
    resolved,
    position,
    map: (node, what) => (node === undefined || isMap(node) ? node : mismatch(node, what)),
    texts(node, what) {
      if (node === undefined) return []
      if (!isSeq(node)) return mismatch(node, `a list of ${what}s`) ?? []
      return node.items.flatMap((item) => {
        const read = resolved(item)
        if (read !== undefined && isEmpty(read)) mismatch(read, `the text of one ${what}`)
        return text(read, `the text of one ${what}`) ?? []
      })
    },
  }
}

function unknownKey(name: string, known: readonly string[], what: string): string {
  const near = nearest(name, known)
  const meant = near === undefined ? `known are ${known.join(', ')}` : `did you mean "${near}"?`
  return `"${name}" is not ${what} and is passed over; ${meant}`
}

/** `null`, `~` or nothing: an empty section. */
const isEmpty = (node: Node): boolean => isScalar(node) && node.value === null

/** Numbers, dates and other scalars are read as written. */
const scalarText = ({ value, source }: Scalar): string => (typeof value === 'string' ? value : (source ?? ''))

function kindOf(node: unknown): string {
  if (isMap(node)) return 'a mapping'
  if (isSeq(node)) return 'a list'
  if (isAlias(node)) return `"*${node.source}"`
  if (isScalar(node) && node.value !== null) return JSON.stringify(scalarText(node).slice(0, 40))
  return 'nothing'
}

function assertionsOf(reader: Reader, node: Node | undefined): WrittenAssertion[] {
  const map = reader.map(node, `a mapping with ${ASSERTION_KINDS.join(', ')}`)
  if (map === undefined) return []
  const lists = reader.entries(map, ASSERTION_KINDS, 'a kind of assertion')
  return ASSERTION_KINDS.flatMap((kind) => reader.texts(lists.get(kind), 'assertion').map((text) => ({ kind, text })))
}

function expectationsOf(reader: Reader, node: Node | undefined): WrittenExpectation[] {
  const map = reader.map(node, 'a mapping from relations of objects to their subjects')
  const seen = new Set<string>()
  return (map?.items ?? []).flatMap(({ key, value }) => {
    const relation = reader.text(reader.resolved(key), 'a relation of an object, such as "document:plan#view"')
    if (relation === undefined) return []
    if (seen.has(relation.text)) reader.repeated(relation.at, relation.text)
    seen.add(relation.text)
    const list = reader.resolved(value)
    const isNone = list === undefined || isEmpty(list)
    return [{ relation, subjects: isNone ? [] : reader.texts(list, 'expected subject') }]
  })
}
