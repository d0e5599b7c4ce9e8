// The baseline of a server's memory: a process with the engine of the embedded store in its thread, over a database without a
// schema, and nothing else. Prints a line of JSON once it is ready.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

const fileOf = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'ctl-bench-engine-'))
const directory = join(scratch, 'database')
mkdirSync(directory)
execFileSync('tar', ['-xzf', fileOf('dist/blank-database.tar.gz'), '-C', directory])
const worker = new Worker(fileOf('src/server/adapters/pglite/worker.js'), {
  workerData: { place: { directory }, syncModule: 'node:fs', startParams: undefined },
})
worker.on('message', ({ event, reason }) => {
  if (event === 'ready') process.stdout.write(`${JSON.stringify({ pid: process.pid })}\n`)
  else process.stderr.write(`the engine: ${event} ${reason ?? ''}\n`)
})
process.on('SIGTERM', () => {
  rmSync(scratch, { recursive: true, force: true })
  process.exit(0)
})
