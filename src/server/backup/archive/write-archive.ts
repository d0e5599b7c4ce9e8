import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { setImmediate as yieldToEvents } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import type { Pack } from 'tar-stream'
import { ENTRY, GZIP_LEVEL, rowsName, tableHeadName, type Manifest, type TableHead } from './format.ts'

/** Writes the entries of a backup one after another. */
export interface ArchiveWriter {
  /** Resolves once the entry is on its way to the file, as fast as the file takes it. @throws the system's error */
  add(name: string, content: string | readonly Buffer[]): Promise<void>
  /** Adds `table.json`; the pieces of that table follow. */
  beginTable(head: TableHead): Promise<void>
  /** Adds the next piece of the table that was begun. */
  addRows(chunks: readonly Buffer[], rows: number): Promise<void>
  /** Adds the manifest, and resolves with the bytes of the file once all of it is synced. */
  finish(): Promise<number>
  /** Compressed bytes in the file so far. */
  bytesWritten(): number
  /** Closes the file as it is. */
  abandon(): Promise<void>
}

type TableSum = Manifest['tables'][number] & { pieces: number }

/** Bytes that are hashed and compressed before other events of the process have their turn. */
const TURN_BYTES = 256 * 1024

/** Writes into the file, which is empty. The library of tar is loaded for it: a server without backups does not need it. */
export async function createArchiveWriter(path: string, modifiedAt: Date): Promise<ArchiveWriter> {
  const { pack } = await import('tar-stream')
  const tar = pack()
  const file = createWriteStream(path, { flags: 'r+', flush: true })
  const written = pipeline(tar, createGzip({ level: GZIP_LEVEL }), file)
  // A failed write rejects the entry that waits for it, the next one, or `finish`.
  let failure: { readonly reason: unknown } | undefined
  const failed = new Promise<never>((_resolve, reject) => {
    written.catch((reason: unknown) => {
      failure = { reason }
      reject(reason)
    })
  })
  failed.catch(() => undefined)
  const entries: Manifest['entries'] = []
  const tables: TableSum[] = []

  async function add(name: string, content: string | readonly Buffer[]): Promise<void> {
    if (failure !== undefined) throw failure.reason
    const chunks = typeof content === 'string' ? [Buffer.from(content)] : content
    const size = chunks.reduce((sum, { length }) => sum + length, 0)
    const hash = createHash('sha256')
    const { entry, done } = begin(tar, { name, size, mtime: modifiedAt })
    for (const part of turns(chunks)) {
      hash.update(part)
      await Promise.race([write(entry, part), failed])
      await yieldToEvents()
    }
    entry.end(null)
    await Promise.race([done, failed])
    entries.push({ name, bytes: size, sha256: hash.digest('hex') })
  }

  return {
    add,
    async beginTable(head) {
      await add(tableHeadName(head.table), JSON.stringify(head))
      tables.push({ table: head.table, rows: 0, bytes: 0, pieces: 0 })
    },
    async addRows(chunks, rows) {
      const table = tables.at(-1)
      if (table === undefined) throw new Error('no table was begun')
      table.pieces += 1
      await add(rowsName(table.table, table.pieces), chunks)
      table.rows += rows
      table.bytes += entries.at(-1)?.bytes ?? 0
    },
    async finish() {
      const manifest: Manifest = { entries: [...entries], tables: tables.map(({ pieces: _pieces, ...sum }) => sum) }
      await add(ENTRY.manifest, JSON.stringify(manifest))
      tar.finalize()
      await written
      return file.bytesWritten
    },
    bytesWritten: () => file.bytesWritten,
    async abandon() {
      tar.destroy(new Error('the backup was ended'))
      await written.catch(() => undefined)
    },
  }
}

interface EntryHeader {
  readonly name: string
  readonly size: number
  readonly mtime: Date
}

type EntrySink = ReturnType<Pack['entry']>

function begin(tar: Pack, header: EntryHeader): { readonly entry: EntrySink; readonly done: Promise<void> } {
  let settle = (_error?: Error | null): void => undefined
  const done = new Promise<void>((resolve, reject) => {
    settle = (error) => (error ? reject(error) : resolve())
  })
  done.catch(() => undefined)
  const entry = tar.entry({ ...header, mode: 0o600, type: 'file', uid: 0, gid: 0 }, (error) => settle(error))
  return { entry, done }
}

/** Waits where the file does not keep up. */
function write(entry: EntrySink, part: Buffer): Promise<void> {
  return entry.write(part) ? Promise.resolve() : new Promise((resolve) => void entry.once('drain', resolve))
}

/** The same bytes in parts that are each short to process: small chunks together, large ones cut. */
function* turns(chunks: readonly Buffer[]): Generator<Buffer> {
  let waiting: Buffer[] = []
  let bytes = 0
  for (const chunk of chunks) {
    waiting.push(chunk)
    bytes += chunk.length
    if (bytes < TURN_BYTES) continue
    const whole = waiting.length === 1 ? chunk : Buffer.concat(waiting)
    for (let at = 0; at < whole.length; at += TURN_BYTES) yield whole.subarray(at, at + TURN_BYTES)
    waiting = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(waiting)
}
