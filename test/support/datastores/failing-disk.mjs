// Preloaded into a server (`NODE_OPTIONS=--import …/failing-disk.mjs?fails=/path&hangs=/fifo`): while the file `fails`
// exists, every sync fails as on a broken disk; while the named pipe `hangs` exists, the syncs of threads do not return, as
// on a disk that hangs. The server has no such switch of its own. Worker threads do not inherit what is preloaded, so they
// are told to load it again.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

const { searchParams } = new URL(import.meta.url)
const fails = searchParams.get('fails') ?? ''
const hangs = searchParams.get('hangs') ?? ''

const { fsyncSync } = fs
fs.fsyncSync = (descriptor) => {
  // Inside the system call until somebody opens the other end.
  if (!threads.isMainThread && fs.existsSync(hangs)) fs.closeSync(fs.openSync(hangs, 'r'))
  if (fs.existsSync(fails)) throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' })
  fsyncSync(descriptor)
}

const { Worker } = threads
threads.Worker = class extends Worker {
  constructor(url, options) {
    super(url, { ...options, execArgv: [...(options?.execArgv ?? []), '--import', import.meta.url] })
  }
}
syncBuiltinESMExports()
