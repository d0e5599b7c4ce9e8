import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** One entry of a journal of `disk-recorder.mjs`. */
type Entry =
  | { readonly op: 'create' | 'unlink' | 'remove' | 'mkdir' | 'sync'; readonly path: string }
  | { readonly op: 'write'; readonly path: string; readonly position: number; readonly data: Buffer }
  | { readonly op: 'truncate'; readonly path: string; readonly size: number }
  | { readonly op: 'rename' | 'link'; readonly from: string; readonly to: string }

/** A directory that was made while the journal was kept. Its name is on the disk once the directory above it was synced. */
const DIRECTORY = 'directory'

/** A file: what of it is on the disk, and what is only in memory so far. */
interface File {
  onDisk: Buffer
  pending: ((bytes: Buffer) => Buffer)[]
}

type Named = File | typeof DIRECTORY | null

/** Reads the entries that were complete when the journal was `end` bytes long. */
function* readJournal(journal: string, end: number): Generator<Entry> {
  const bytes = readFileSync(journal).subarray(0, end)
  let at = 0
  while (at < bytes.length) {
    const newline = bytes.indexOf(0x0a, at)
    if (newline < 0) return
    const { bytes: length, ...entry } = JSON.parse(bytes.toString('utf8', at, newline))
    at = newline + 1 + length
    if (at > bytes.length) return
    yield entry.op === 'write' ? { ...entry, data: bytes.subarray(newline + 1, at) } : entry
  }
}

function overwrite(bytes: Buffer, position: number, data: Buffer): Buffer {
  const end = position + data.length
  const grown = end <= bytes.length ? bytes : Buffer.concat([bytes, Buffer.alloc(end - bytes.length)])
  data.copy(grown, position)
  return grown
}

const resize = (bytes: Buffer, size: number): Buffer =>
  size <= bytes.length ? bytes.subarray(0, size) : Buffer.concat([bytes, Buffer.alloc(size - bytes.length)])

/** A disk that keeps only what was synced: contents when their file was, names when their file or directory was. */
class Disk {
  readonly #root: string
  readonly #base: string
  /** Names as the running engine sees them; null once removed. What is not here is as it was in the base. */
  readonly #names = new Map<string, Named>()
  /** Names as they are on the disk. */
  readonly #kept = new Map<string, Named>()

  /** @param base a copy of `root` as it was when the journal began, all of it synced. */
  constructor(root: string, base: string) {
    this.#root = root
    this.#base = base
  }

  apply(entry: Entry): void {
    if (entry.op === 'create') this.#names.set(entry.path, { onDisk: Buffer.alloc(0), pending: [] })
    else if (entry.op === 'mkdir') this.#names.set(entry.path, DIRECTORY)
    else if (entry.op === 'unlink' || entry.op === 'remove') this.#remove(entry.path)
    else if (entry.op === 'rename') this.#rename(entry.from, entry.to)
    else if (entry.op === 'link') this.#link(entry.from, entry.to)
    else if (entry.op === 'sync') this.#sync(entry.path)
    else if (entry.op === 'write') this.#change(entry.path, (bytes) => overwrite(bytes, entry.position, entry.data))
    else if (entry.op === 'truncate') this.#change(entry.path, (bytes) => resize(bytes, entry.size))
  }

  /** Writes what a restart would find into `target`. */
  writeTo(target: string): void {
    cpSync(this.#base, target, { recursive: true })
    for (const [path, entry] of this.#kept) {
      if (!this.#isReachable(path)) continue
      const there = path.replace(this.#root, target)
      mkdirSync(entry === DIRECTORY ? there : dirname(there), { recursive: true, mode: 0o700 })
      if (entry === null) rmSync(there, { recursive: true, force: true })
      else if (entry !== DIRECTORY) writeFileSync(there, entry.onDisk, { mode: 0o600 })
    }
  }

  /** Whether every directory above is on the disk, those of the base included. */
  #isReachable(path: string): boolean {
    const above = dirname(path)
    if (above.length <= this.#root.length) return true
    const isNew = this.#names.get(above) === DIRECTORY
    return (!isNew || this.#kept.get(above) === DIRECTORY) && this.#isReachable(above)
  }

  #file(path: string): File | undefined {
    const known = this.#names.get(path)
    if (known !== undefined) return known === DIRECTORY ? undefined : (known ?? undefined)
    const before = path.replace(this.#root, this.#base)
    if (!statSync(before, { throwIfNoEntry: false })?.isFile()) return undefined
    const file = { onDisk: readFileSync(before), pending: [] }
    this.#names.set(path, file)
    this.#kept.set(path, file)
    return file
  }

  #change(path: string, change: (bytes: Buffer) => Buffer): void {
    this.#file(path)?.pending.push(change)
  }

  #remove(path: string): void {
    this.#file(path)
    this.#names.set(path, null)
    for (const name of this.#names.keys()) if (name.startsWith(`${path}/`)) this.#names.set(name, null)
  }

  #link(from: string, to: string): void {
    const file = this.#file(from)
    if (file !== undefined) this.#names.set(to, file)
  }

  #rename(from: string, to: string): void {
    const file = this.#file(from)
    this.#file(to)
    this.#names.set(from, null)
    if (file !== undefined) this.#names.set(to, file)
  }

  #sync(path: string): void {
    const file = this.#names.get(path)
    if (file && file !== DIRECTORY) {
      for (const change of file.pending) file.onDisk = change(file.onDisk)
      file.pending = []
      this.#kept.set(path, file)
      return
    }
    for (const [name, entry] of this.#names) if (dirname(name) === path) this.#kept.set(name, entry)
  }
}

export interface PowerLoss {
  readonly journal: string
  /** How long the journal was when the power went. */
  readonly atBytes: number
  /** The directory that the journal is about. */
  readonly root: string
  /** A copy of it from before the journal. */
  readonly base: string
  /** Where to put what is left. */
  readonly target: string
}

/** Where in a journal the first entry lies that is about such a path, after it; undefined when there is none. */
export function journalOffset(journal: string, op: Entry['op'], pathEnd: string): number | undefined {
  const bytes = readFileSync(journal)
  let at = 0
  while (at < bytes.length) {
    const newline = bytes.indexOf(0x0a, at)
    const entry = JSON.parse(bytes.toString('utf8', at, newline))
    at = newline + 1 + entry.bytes
    if (entry.op === op && String(entry.path).endsWith(pathEnd)) return at
  }
  return undefined
}

/** Builds the directory that a machine would find after losing power at that point: only what was synced is there. */
export function losePower({ journal, atBytes, root, base, target }: PowerLoss): void {
  const disk = new Disk(root, base)
  for (const entry of readJournal(journal, atBytes)) disk.apply(entry)
  disk.writeTo(target)
}
