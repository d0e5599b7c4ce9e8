import { createHash, type Hash } from 'node:crypto'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { endianness } from 'node:os'
import { dirname } from 'node:path'
import type { IndexImage } from '../../../shared/authz/engine/index-image.ts'

/** The header of an index file. */
export interface IndexFileHead {
  /** Fingerprint of the schema. */
  readonly schema: string
  /** Names the file in the database that it was written from. */
  readonly mark: string
  /** Its revision. */
  readonly revision: string
  /** Tuples that the schema does not have, which the index leaves out. */
  readonly unknownTuples: number
}

export interface IndexFile extends IndexFileHead {
  readonly image: IndexImage
}

/** The header as JSON; the columns follow it, then the SHA-256 of everything. */
interface Header extends IndexFileHead, Pick<IndexImage, 'names' | 'conditions'> {
  readonly byteOrder: string
  /** Integers in each column. */
  readonly lengths: Readonly<Record<Column, number>>
}

type Column = (typeof COLUMNS)[number]
type Columns = Pick<IndexImage, Column>

/** Names the format; every format has its own name. */
const MAGIC = Buffer.from('ctl-index-3\n')
const PREFIX_BYTES = MAGIC.length + 4
const COLUMNS = ['objects', 'sets', 'edges', 'revisions'] as const
const DIGEST_BYTES = 32
/** Bytes read, written and hashed at a time, so that other work can run in between. */
const CHUNK_BYTES = 4 * 1024 * 1024

/** Writes a temporary file and forces it to stable storage; `commit` renames it. @throws the file system's error. */
export async function writeIndexFile(path: string, content: IndexFile): Promise<{ commit: () => Promise<void> }> {
  const unfinished = `${path}.unfinished`
  const file = await open(unfinished, 'w', 0o600)
  try {
    const hash = createHash('sha256')
    for (const part of partsOf(content)) await writeWhole(file, part, hash)
    await file.writeFile(hash.digest())
    await file.sync()
  } finally {
    await file.close()
  }
  return {
    async commit() {
      await rename(unfinished, path)
      await syncDirectory(dirname(path))
    },
  }
}

/** Everything but the checksum. */
function partsOf({ image, ...head }: IndexFile): Buffer[] {
  const { names, conditions } = image
  const lengths = Object.fromEntries(COLUMNS.map((column) => [column, image[column].length]))
  const header = Buffer.from(JSON.stringify({ ...head, byteOrder: endianness(), lengths, names, conditions }))
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.set(MAGIC)
  prefix.writeUInt32LE(header.length, MAGIC.length)
  return [prefix, header, ...COLUMNS.map((column) => bytesOf(image[column]))]
}

/** Undefined where there is no file. @throws Error that names its fault. */
export async function readIndexFile(path: string): Promise<IndexFile | undefined> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  if (file === undefined) return undefined
  try {
    return await readWhole(file)
  } finally {
    await file.close()
  }
}

/** Removes the file, if there is one. */
export async function removeIndexFile(path: string): Promise<void> {
  await rm(path, { force: true })
}

async function readWhole(file: FileHandle): Promise<IndexFile> {
  const { size } = await file.stat()
  const hash = createHash('sha256')
  const prefix = await readBytes(file, PREFIX_BYTES, hash)
  if (!prefix.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error('it has another format')
  const headerBytes = prefix.readUInt32LE(MAGIC.length)
  if (headerBytes > size) throw new Error('it is cut short')
  const { lengths, names, conditions, byteOrder, ...head } = parseHeader(await readBytes(file, headerBytes, hash))
  if (byteOrder !== endianness()) throw new Error('it was written on another kind of machine')
  const columnBytes = COLUMNS.reduce((sum, column) => sum + lengths[column] * 4, 0)
  if (size !== PREFIX_BYTES + headerBytes + columnBytes + DIGEST_BYTES) throw new Error('it is cut short')
  const columns = await readColumns(file, lengths, hash)
  const digest = hash.digest()
  if (!(await readBytes(file, DIGEST_BYTES)).equals(digest)) throw new Error('its checksum is wrong')
  return { ...head, image: { ...columns, names, conditions } }
}

async function readColumns(file: FileHandle, lengths: Header['lengths'], hash: Hash): Promise<Columns> {
  const columns = {
    objects: new Int32Array(lengths.objects),
    sets: new Int32Array(lengths.sets),
    edges: new Int32Array(lengths.edges),
    revisions: new Uint32Array(lengths.revisions),
  }
  for (const column of COLUMNS) await fill(file, bytesOf(columns[column]), hash)
  return columns
}

/** The checksum is verified only at the end, so a damaged header must not cause reads beyond the file. */
function parseHeader(bytes: Buffer): Header {
  // Written in this format; damage that leaves JSON of another shape fails at the lengths or the checksum.
  const header = JSON.parse(bytes.toString()) as Header
  for (const column of COLUMNS) {
    const length = header.lengths[column]
    if (!Number.isInteger(length) || length < 0) throw new Error('its header is damaged')
  }
  return header
}

function bytesOf(column: Int32Array | Uint32Array): Buffer {
  return Buffer.from(column.buffer, column.byteOffset, column.byteLength)
}

async function writeWhole(file: FileHandle, bytes: Buffer, hash: Hash): Promise<void> {
  for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
    const chunk = bytes.subarray(from, from + CHUNK_BYTES)
    hash.update(chunk)
    await file.writeFile(chunk)
  }
}

async function readBytes(file: FileHandle, count: number, hash?: Hash): Promise<Buffer> {
  const bytes = Buffer.alloc(count)
  await fill(file, bytes, hash)
  return bytes
}

async function fill(file: FileHandle, bytes: Buffer, hash?: Hash): Promise<void> {
  for (let from = 0; from < bytes.length;) {
    const { bytesRead } = await file.read(bytes, from, Math.min(CHUNK_BYTES, bytes.length - from))
    if (bytesRead === 0) throw new Error('it is cut short')
    hash?.update(bytes.subarray(from, from + bytesRead))
    from += bytesRead
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
