import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Extract } from 'tar-stream'
import type { z } from 'zod'
import { BootError } from '../../ports/boot-error.ts'
import {
  ARCHIVE_LIMITS,
  BACKUP_FORMAT,
  backupHead,
  ENTRY,
  manifest as manifestSchema,
  parseEntryName,
  sealedKey,
  sequenceStates,
  tableHead,
  type BackupHead,
  type EntryName,
  type Manifest,
  type SealedKey,
  type SequenceStates,
  type TableHead,
} from './format.ts'
import { createManifestCheck, type ManifestCheck } from './manifest-check.ts'

/** What a backup holds, in the order of its entries. */
export type BackupPart =
  /** `sha256`: of the bytes of the entry, 32 bytes. */
  | { readonly kind: 'head'; readonly head: BackupHead; readonly sha256: Buffer }
  | { readonly kind: 'table'; readonly table: TableHead }
  /** Whole rows in the text format of COPY. */
  | { readonly kind: 'rows'; readonly table: string; readonly bytes: Buffer }
  | { readonly kind: 'sequences'; readonly states: SequenceStates }
  | { readonly kind: 'masterKey'; readonly sealed: SealedKey }
  /** The last one: everything before it has the checksum of the manifest, and nothing is missing. */
  | { readonly kind: 'end'; readonly manifest: Manifest }

/**
 * Reads a backup from its beginning to its end. Holds one entry at a time in memory: 8 MiB, or the longest row. Parts are
 * passed on before the manifest at the end confirms them: nothing that was made of them counts until `end` has come.
 *
 * @throws BootError in one sentence for a file that is no backup, has a newer format, is cut off or was changed.
 */
export async function* readArchive(path: string): AsyncGenerator<BackupPart> {
  const entries = extract()
  const read = pipeline(createReadStream(path), createGunzip(), entries)
  // Reported by the loop, which the same error ends.
  read.catch(() => undefined)
  try {
    yield* partsOf(path, entries)
    await read
  } catch (error) {
    throw refusalOf(path, error)
  } finally {
    entries.destroy()
    await read.catch(() => undefined)
  }
}

/** Reads only the first entry. @throws BootError likewise. */
export async function readHead(path: string): Promise<BackupHead> {
  for await (const part of readArchive(path)) if (part.kind === 'head') return part.head
  throw notWhole(path, 'it has no entries')
}

/** A backup of which every checksum was confirmed. */
export interface CheckedArchive {
  readonly head: BackupHead
  /** SHA-256 of the head, 32 bytes: the master key is bound to it. */
  readonly headSha256: Buffer
  /** Undefined in a backup without the master key. */
  readonly sealedKey: SealedKey | undefined
  readonly manifest: Manifest
}

/** Reads all of it. Resolves once every checksum was confirmed. @throws BootError likewise. */
export async function checkArchive(path: string): Promise<CheckedArchive> {
  let begun: Pick<CheckedArchive, 'head' | 'headSha256'> | undefined
  let sealed: SealedKey | undefined
  let manifest: Manifest | undefined
  for await (const part of readArchive(path)) {
    if (part.kind === 'head') begun = { head: part.head, headSha256: part.sha256 }
    if (part.kind === 'masterKey') ({ sealed } = part)
    if (part.kind === 'end') ({ manifest } = part)
  }
  // The reader itself refuses a file without these two.
  if (begun === undefined || manifest === undefined) throw notWhole(path, 'it is cut off')
  return { ...begun, sealedKey: sealed, manifest }
}

async function* partsOf(path: string, entries: Extract): AsyncGenerator<BackupPart> {
  const check = createManifestCheck((reason) => notWhole(path, reason))
  let isOver = false
  let isFirst = true
  for await (const entry of entries) {
    const { name } = entry.header
    const kind = kindOf(path, entry, { isFirst, isOver })
    const bytes = await contentOf(path, entry, kind)
    isFirst = false
    isOver = kind.kind === 'manifest'
    yield partOf(path, { kind, name, bytes }, check)
  }
  if (isFirst) throw noBackup(path)
  if (!isOver) throw notWhole(path, `it ends without ${ENTRY.manifest}`)
}

/** @throws BootError unless an entry of its name may come at that place. */
function kindOf(path: string, { header }: Entry, { isFirst, isOver }: Place): EntryName {
  const { name, type } = header
  const kind = type === 'file' ? parseEntryName(name) : undefined
  if (isFirst && kind?.kind !== 'head') throw noBackup(path)
  if (kind === undefined || isOver || (kind.kind === 'head') !== isFirst)
    throw notWhole(path, `it has an entry too many, ${printable(name)}`)
  return kind
}

interface Place {
  readonly isFirst: boolean
  /** The manifest has come. */
  readonly isOver: boolean
}

interface Content {
  readonly kind: EntryName
  readonly name: string
  readonly bytes: Buffer
}

function partOf(path: string, { kind: entry, name, bytes }: Content, check: ManifestCheck): BackupPart {
  const { kind } = entry
  if (kind === 'manifest') {
    const manifest = parsed(path, { name, bytes }, manifestSchema)
    check.confirm(manifest)
    return { kind: 'end', manifest }
  }
  const sha256 = createHash('sha256').update(bytes).digest()
  check.take({ entry, name, bytes, sha256: sha256.toString('hex') })
  if (kind === 'head') return { kind, head: headOf(path, { name, bytes }), sha256 }
  if (kind === 'rows') return { kind, table: entry.table, bytes }
  if (kind === 'tableHead') return { kind: 'table', table: tableOf(path, { name, bytes }, entry.table) }
  if (kind === 'sequences') return { kind, states: parsed(path, { name, bytes }, sequenceStates) }
  if (kind === 'masterKey') return { kind, sealed: parsed(path, { name, bytes }, sealedKey) }
  throw notWhole(path, `it has an entry of a later version, ${name}`)
}

function tableOf(path: string, content: Omit<Content, 'kind'>, named: string): TableHead {
  const table = parsed(path, content, tableHead)
  if (table.table !== named) throw notWhole(path, `its entry ${content.name} names another table`)
  return table
}

/** The number of the format comes before its members: those of another format are not known here. */
function headOf(path: string, content: Omit<Content, 'kind'>): BackupHead {
  const value = jsonOf(path, content)
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined
  if (typeof format === 'number' && format > BACKUP_FORMAT)
    throw new BootError(
      1,
      `The backup ${path} has format ${format}, and this version reads format ${BACKUP_FORMAT}: use a newer version of ctl.`,
    )
  return parsed(path, content, backupHead)
}

function parsed<T>(path: string, content: Omit<Content, 'kind'>, schema: z.ZodType<T>): T {
  const result = schema.safeParse(jsonOf(path, content))
  if (result.success) return result.data
  throw notWhole(path, `its entry ${content.name} cannot be read`)
}

function jsonOf(path: string, { name, bytes }: Omit<Content, 'kind'>): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw notWhole(path, `its entry ${name} cannot be read`)
  }
}

type Entry = Extract extends AsyncIterable<infer E> ? E : never

const BYTES_MAX: Readonly<Partial<Record<EntryName['kind'], number>>> = {
  rows: ARCHIVE_LIMITS.rowBytesMax,
  manifest: ARCHIVE_LIMITS.manifestBytesMax,
}

async function contentOf(path: string, entry: Entry, { kind }: EntryName): Promise<Buffer> {
  const { name, size } = entry.header
  if (size > (BYTES_MAX[kind] ?? ARCHIVE_LIMITS.documentBytesMax))
    throw notWhole(path, `its entry ${name} is longer than any of this version`)
  const bytes = Buffer.allocUnsafe(size)
  let filled = 0
  for await (const chunk of entry as AsyncIterable<Buffer>) filled += chunk.copy(bytes, filled)
  if (filled !== size) throw notWhole(path, `its entry ${name} is cut off`)
  return bytes
}

/** Why a backup was refused: nothing of it may be used. */
function notWhole(path: string, reason: string): BootError {
  return new BootError(1, `${path} is not a whole backup (${reason}): use another one.`)
}

function noBackup(path: string, cause?: unknown): BootError {
  return new BootError(1, `${path} is not a backup made by ctl admin backup create: name another file.`, cause)
}

/** The name of an entry that this version does not know may be any bytes. */
const printable = (name: string): string => JSON.stringify(name.slice(0, 100))

function refusalOf(path: string, error: unknown): unknown {
  if (error instanceof BootError || !(error instanceof Error)) return error
  const code = 'code' in error ? String(error.code) : ''
  if (code === 'Z_DATA_ERROR' && error.message === 'incorrect header check') return noBackup(path, error)
  if (code.startsWith('Z_')) return notWhole(path, 'it is cut off or was changed')
  if (['ENOENT', 'EACCES', 'EISDIR', 'EIO', 'ENOTDIR'].includes(code))
    return new BootError(1, `The backup ${path} cannot be read (${code}): check the path and its mode.`, error)
  // The library's own words for a broken header or a stream that ends within an entry.
  return /invalid (?:tar )?header|header exceeds max size|unexpected end of data|unknown format/i.test(error.message)
    ? notWhole(path, 'it is cut off or was changed')
    : error
}
