// Stands in for `node:fs` where the embedded engine syncs, inside its worker thread: does the real thing, and writes down
// in a journal what was written, created, renamed, removed and synced, in order. Plain JavaScript, since Node 20 strips no
// types. The journal is named by the query: `disk-recorder.mjs?journal=/tmp/x&root=/tmp/data&skip=pg_wal`.
import fs from 'node:fs'

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

fs.writeSync = (descriptor, buffer, offset, length, position) => {
  const written = real.writeSync(descriptor, buffer, offset, length, position)
  const path = paths.get(descriptor)
  if (path !== undefined)
    record({ op: 'write', path, position }, Buffer.from(buffer.subarray(offset, offset + written)))
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

fs.unlinkSync = (path) => {
  real.unlinkSync(path)
  if (isInside(path)) record({ op: 'unlink', path })
}

fs.mkdirSync = (path, ...rest) => {
  real.mkdirSync(path, ...rest)
  if (isInside(path)) record({ op: 'mkdir', path })
}

export function fsyncSync(descriptor) {
  const path = paths.get(descriptor)
  if (skipped !== null && path?.includes(skipped)) return
  real.fsyncSync(descriptor)
  record({ op: 'sync', path })
}
