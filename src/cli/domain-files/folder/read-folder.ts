import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { usageError } from '../../errors/cli-error.ts'
import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { keyOf, titleOf, type FileDocument } from '../document.ts'
import { inParallel } from '../gateway.ts'
import type { Kind } from '../kind.ts'
import { KINDS, kindNamed } from '../kinds.ts'
import { documentSchema, presentSchema } from '../schema/document-schema.ts'
import { valueFaults, type ValueFault } from '../schema/value-fault.ts'
import type { ValueSchema } from '../schema/value-schema.ts'
import { faultyFiles, placedFault } from './file-faults.ts'
import { findFiles } from './find-files.ts'
import { SET_FILE, UNFINISHED_FILE } from './layout.ts'
import { readDocument, type FileFault, type ReadFile } from './read-file.ts'

/** Files that are open at a time. */
const FILES_AT_ONCE = 32
/** What a folder says. */
export interface Folder {
  /** Name of the set; undefined where the folder does not say. */
  readonly set: string | undefined
  /** Slug of the Domain that was exported; undefined where the folder does not say. */
  readonly domain: string | undefined
  readonly documents: readonly FileDocument[]
}

/**
 * Reads the files of a set.
 *
 * @throws CliError that lists what is wrong with the files by file, line and column.
 */
export async function readFolder(
  path: string,
  { cwd, manifest }: { readonly cwd: string; readonly manifest: Manifest },
): Promise<Folder> {
  const folder = resolve(cwd, path)
  const files = await findFiles(folder)
  if (existsSync(join(folder, UNFINISHED_FILE)))
    throw usageError(`The export to ${path} was not finished`, `Run it again: ctl export ${path}`)
  const read = await inParallel(files, (file) => readDocument(folder, file), FILES_AT_ONCE)
  const faults: FileFault[] = []
  const documents: FileDocument[] = []
  const schemas = createSchemas(manifest)
  let head: SetHead | undefined
  for (const file of read) {
    if ('length' in file) faults.push(...file)
    else if (file.file === SET_FILE) head = setOf(file, faults)
    else documents.push(...documentOf(file, schemas, faults))
  }
  faults.push(...twins(documents))
  if (faults.length > 0) throw faultyFiles(faults)
  return {
    set: head?.set,
    domain: head?.domain,
    documents: documents.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1)),
  }
}

/** What a folder says of its set; undefined where it has no set file. @throws CliError for a fault in that file. */
export async function readSetHead(folder: string): Promise<SetHead | undefined> {
  if (!existsSync(join(folder, SET_FILE))) return undefined
  const read = await readDocument(folder, SET_FILE)
  const faults: FileFault[] = []
  const head = 'length' in read ? void faults.push(...read) : setOf(read, faults)
  if (faults.length > 0) throw faultyFiles(faults)
  return head
}

/** A name that a set may have: `web-team`, at most 63 characters. */
export function isSetName(text: string): boolean {
  return text.length <= SET_NAME_MAX && new RegExp(SET_NAME).test(text)
}

interface Schemas {
  present(kind: Kind): ValueSchema
  any(kind: Kind): ValueSchema
}

function createSchemas(manifest: Manifest): Schemas {
  const present = new Map(KINDS.map((kind) => [kind, presentSchema(kind, manifest)]))
  const any = new Map(KINDS.map((kind) => [kind, documentSchema(kind, manifest)]))
  return { present: (kind) => present.get(kind) ?? {}, any: (kind) => any.get(kind) ?? {} }
}

const SET_NAME = '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$'
const SET_NAME_MAX = 63

const SET_SCHEMA: ValueSchema = {
  type: 'object',
  properties: {
    format: { const: 1 },
    set: { type: 'string', minLength: 1, maxLength: SET_NAME_MAX, pattern: SET_NAME },
    domain: { type: 'string' },
    mesh_cidr: { type: 'string' },
    omitted: { type: 'object' },
  },
  required: ['format', 'set'],
  additionalProperties: false,
}

function isNewer(format: unknown): boolean {
  return typeof format === 'number' && Number.isSafeInteger(format) && format > 1
}

/** What the set file says. */
export interface SetHead {
  readonly set: string
  /** Slug of the Domain that was exported; undefined where it does not say. */
  readonly domain: string | undefined
}

function setOf(file: ReadFile, faults: FileFault[]): SetHead | undefined {
  const found = isNewer(file.value['format'])
    ? [
        {
          path: ['format'],
          message: 'the files have a later format than this version of ctl reads, 1; use a newer ctl',
        },
      ]
    : valueFaults(file.value, SET_SCHEMA)
  faults.push(...found.map((one) => placedFault(file, one)))
  const { set, domain } = file.value
  return found.length === 0 ? { set: String(set), domain: typeof domain === 'string' ? domain : undefined } : undefined
}

function documentOf(file: ReadFile, schemas: Schemas, faults: FileFault[]): readonly FileDocument[] {
  const kind = typeof file.value['kind'] === 'string' ? kindNamed(file.value['kind']) : undefined
  if (kind === undefined) {
    faults.push(placedFault(file, unknownKind(file.value['kind'])))
    return []
  }
  const isAbsent = file.value['absent'] === true
  const found = valueFaults(file.value, isAbsent ? schemas.any(kind) : schemas.present(kind))
  const named = found.length > 0 ? found : nameFaults(kind, file.value)
  faults.push(...named.map((one) => placedFault(file, one)))
  if (named.length > 0) return []
  const { kind: _kind, name = kind.name, absent: _absent, ...members } = file.value
  return [
    {
      kind: kind.name,
      name: String(name),
      members,
      file: file.file,
      placeOf: file.placeOf,
      ...(isAbsent && { isAbsent }),
    },
  ]
}

function unknownKind(kind: unknown): ValueFault {
  const known = KINDS.map(({ name }) => name)
  if (kind === undefined) return { path: [], message: '"kind" is missing' }
  const word = typeof kind === 'string' ? kind : JSON.stringify(kind)
  return { path: ['kind'], message: `${JSON.stringify(kind)} is no kind of a file`, unknown: { word, known } }
}

function nameFaults({ naming }: Kind, { name }: ReadFile['value']): readonly ValueFault[] {
  if (naming === undefined || (typeof name === 'string' && naming.pattern.test(name))) return []
  return [{ path: ['name'], message: `expected ${naming.describe}` }]
}

function twins(documents: readonly FileDocument[]): readonly FileFault[] {
  const first = new Map<string, string>()
  return documents.flatMap((document) => {
    const other = first.get(keyOf(document))
    if (other === undefined) first.set(keyOf(document), document.file)
    const message = `${titleOf(document)} is in ${other ?? ''} too`
    return other === undefined ? [] : [{ file: document.file, line: 1, column: 1, message }]
  })
}
