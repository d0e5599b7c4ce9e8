import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, postgresAccount } from './postgres-cluster.ts'
import { requirement } from '../run/requirements.mjs'

/** A real PgBouncer in front of a cluster. */
export interface PgBouncer {
  /** The URL of the same database through it. */
  readonly url: string
  stop(): Promise<void>
}

const READY_DEADLINE_MS = 60_000

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

async function waitUntilReady(process: ChildProcess, port: number): Promise<void> {
  const deadline = Date.now() + READY_DEADLINE_MS
  while (!(await isListening(port))) {
    if (process.exitCode !== null || Date.now() > deadline) throw new Error('PgBouncer is not ready')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Starts PgBouncer before the database of that URL. `settings` are lines of its `[pgbouncer]` section. */
export async function startPgBouncer(databaseUrl: string, settings: readonly string[]): Promise<PgBouncer> {
  const program = requirement('pgbouncer')
  if (program === undefined) throw new Error('PgBouncer is not here')
  const identity = postgresAccount()
  const directory = mkdtempSync(join(tmpdir(), 'ctl-pgbouncer-'))
  if (identity !== undefined) chownSync(directory, identity.uid, identity.gid)
  const port = await freePort()
  const { hostname, port: serverPort } = new URL(databaseUrl)
  const file = join(directory, 'pgbouncer.ini')
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${serverPort} user=postgres`,
    '[pgbouncer]',
    `listen_addr = 127.0.0.1`,
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'max_client_conn = 200',
    ...settings,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const bouncer = spawn(program, [file], { cwd: directory, stdio: 'ignore', ...identity })
  await waitUntilReady(bouncer, port)
  const url = new URL(databaseUrl)
  url.port = String(port)
  return {
    url: url.href,
    async stop() {
      if (bouncer.exitCode === null && bouncer.signalCode === null) {
        const ended = once(bouncer, 'exit')
        bouncer.kill('SIGTERM')
        await ended
      }
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
