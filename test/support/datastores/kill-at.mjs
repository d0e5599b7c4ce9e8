// Preloaded into a process (`node --import`): kills it, as `kill -9` would, at one of the steps that it takes with files
// whose path holds `path`. Plain JavaScript, since Node 20 strips no types. The query says when:
// `kill-at.mjs?path=master.key&step=3&when=after`. Steps are counted from 1: create, write, sync, link, remove, rename;
// `op=renameSync` counts those alone.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const query = new URL(import.meta.url).searchParams
const watched = query.get('path')
const at = Number(query.get('step'))
const when = query.get('when')
const only = query.get('op')

const real = { ...fs }
const descriptors = new Set()
let steps = 0

function step(name, work) {
  if (only !== null && only !== name) return work()
  steps += 1
  if (steps === at && when === 'before') process.kill(process.pid, 'SIGKILL')
  const result = work()
  if (steps === at && when === 'after') process.kill(process.pid, 'SIGKILL')
  return result
}

const isWatched = (path) => typeof path === 'string' && path.includes(watched)

fs.openSync = (path, flags, ...rest) => {
  const creates = typeof flags === 'number' && (flags & fs.constants.O_CREAT) !== 0
  const isDirectory = typeof path === 'string' && real.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  if (!(creates && isWatched(path)) && !isDirectory) return real.openSync(path, flags, ...rest)
  const descriptor = isDirectory
    ? real.openSync(path, flags, ...rest)
    : step('openSync', () => real.openSync(path, flags, ...rest))
  descriptors.add(descriptor)
  return descriptor
}
fs.closeSync = (descriptor) => {
  descriptors.delete(descriptor)
  real.closeSync(descriptor)
}
for (const name of ['writeSync', 'fsyncSync']) {
  fs[name] = (descriptor, ...rest) =>
    descriptors.has(descriptor) ? step(name, () => real[name](descriptor, ...rest)) : real[name](descriptor, ...rest)
}
for (const name of ['linkSync', 'renameSync', 'rmSync']) {
  fs[name] = (path, ...rest) =>
    isWatched(path) ? step(name, () => real[name](path, ...rest)) : real[name](path, ...rest)
}
syncBuiltinESMExports()
