import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../../support/datastores/postgres-cluster.mjs'
import { requirement } from '../../support/run/requirements.mjs'

/** Starts NATS with JetStream on a free port of the loopback address. */
export async function startNats() {
  const program = requirement('nats-server')
  if (program === undefined) throw new Error('nats-server is not on this machine')
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-nats-'))
  const port = await freePort()
  const child = spawn(program, ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', directory], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await ready(child)
  return {
    url: `nats://127.0.0.1:${port}`,
    pid: child.pid,
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'exit')
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function ready(child) {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`NATS ended with ${code} before it was ready`)
  })
  ended.catch(() => undefined)
  const said = (async () => {
    for await (const line of createInterface({ input: child.stderr })) if (line.includes('Server is ready')) break
  })()
  await Promise.race([said, ended])
  child.stderr.resume()
}
