// Preloaded into a server (`NODE_OPTIONS=--import …/failing-disk.mjs?fails=/path`): while the file that the query names
// exists, every sync fails as on a broken disk. The server has no such switch of its own. Worker threads do not inherit
// what is preloaded, so they are told to load it again.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

const fails = new URL(import.meta.url).searchParams.get('fails')

const { fsyncSync } = fs
fs.fsyncSync = (descriptor) => {
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
