// Stands in for `node:fs` where the embedded engine syncs, inside its worker thread: does the real thing, and writes down
// in a journal what was written, created, renamed, removed and synced, in order. Plain JavaScript, since Node 20 strips no
// types. The journal is named by the query: `disk-recorder.mjs?journal=/tmp/x&root=/tmp/data&skip=pg_wal`. With
// `everywhere=yes` it is preloaded into a whole server (`NODE_OPTIONS=--import …`): its own thread, its child processes,
// and its worker threads, which inherit nothing by themselves.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

const query = new URL(import.meta.url).searchParams
const root = query.get('root')
const journal = fs.openSync(query.get('journal'), 'a')
/** Files whose syncs are neither done nor recorded, to show that a test notices. */
const skipped = query.get('skip')

const real = { ...fs }
const paths = new Map()

/** An entry is one line of JSON, followed by as many bytes as it says. */
function record(entry, bytes = Buffer.alloc(0)) {
  const head = Buffer.from(`${JSON.stringify({ ...entry, bytes: bytes.length })}\n`)
  real.writeSync(journal, Buffer.concat([head, bytes]))
}

const isInside = (path) => typeof path === 'string' && path.startsWith(root)

fs.openSync = (path, flags, ...rest) => {
  const isNew = isInside(path) && !real.existsSync(path)
  const descriptor = real.openSync(path, flags, ...rest)
  if (!isInside(path)) return descriptor
  paths.set(descriptor, path)
  if (isNew) record({ op: 'create', path })
  else if (typeof flags === 'number' && flags & real.constants.O_TRUNC) record({ op: 'truncate', path, size: 0 })
  return descriptor
}

fs.closeSync = (descriptor) => {
  paths.delete(descriptor)
  real.closeSync(descriptor)
}

fs.writeSync = (descriptor, data, ...rest) => {
  const written = real.writeSync(descriptor, data, ...rest)
  const path = paths.get(descriptor)
  if (path === undefined) return written
  // A text comes with its position, bytes come with offset, length and position; without one, new files are written once.
  const isText = typeof data === 'string'
  const [offset, position] = isText ? [0, rest[0]] : [rest[0] ?? 0, rest[2]]
  const bytes = isText ? Buffer.from(data) : Buffer.from(data.subarray(offset, offset + written))
  record({ op: 'write', path, position: position ?? 0 }, bytes)
  return written
}

fs.ftruncateSync = (descriptor, size) => {
  real.ftruncateSync(descriptor, size)
  const path = paths.get(descriptor)
  if (path !== undefined) record({ op: 'truncate', path, size })
}

fs.truncateSync = (path, size) => {
  real.truncateSync(path, size)
  if (isInside(path)) record({ op: 'truncate', path, size })
}

fs.renameSync = (from, to) => {
  real.renameSync(from, to)
  if (!isInside(from)) return
  for (const [descriptor, path] of paths) if (path === from) paths.set(descriptor, to)
  record({ op: 'rename', from, to })
}

fs.writeFileSync = (path, data, options) => {
  real.writeFileSync(path, data, options)
  if (!isInside(path)) return
  record({ op: 'create', path })
  record({ op: 'write', path, position: 0 }, Buffer.from(data))
}

fs.linkSync = (from, to) => {
  real.linkSync(from, to)
  if (isInside(from)) record({ op: 'link', from, to })
}

fs.rmSync = (path, options) => {
  const isThere = isInside(path) && real.existsSync(path)
  real.rmSync(path, options)
  if (isThere) record({ op: 'remove', path })
}

fs.unlinkSync = (path) => {
  real.unlinkSync(path)
  if (isInside(path)) record({ op: 'unlink', path })
}

fs.mkdirSync = (path, ...rest) => {
  const isNew = isInside(path) && !real.existsSync(path)
  real.mkdirSync(path, ...rest)
  if (isNew) record({ op: 'mkdir', path })
}

export function fsyncSync(descriptor) {
  const path = paths.get(descriptor)
  if (skipped !== null && path?.includes(skipped)) return
  real.fsyncSync(descriptor)
  if (path !== undefined) record({ op: 'sync', path })
}

if (query.get('everywhere') === 'yes') {
  fs.fsyncSync = fsyncSync
  const { Worker } = threads
  threads.Worker = class extends Worker {
    constructor(url, options) {
      super(url, { ...options, execArgv: [...(options?.execArgv ?? []), '--import', import.meta.url] })
    }
  }
  syncBuiltinESMExports()
}
