import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { requirement } from './requirements.mjs'

/** A real PostgreSQL of its own: durable settings, loopback, a free port, gone at the end. */
export interface PostgresCluster {
  /** Of the database `postgres`. */
  readonly url: string
  readonly pid: number
  /** Makes an empty database and returns its URL. */
  createDatabase(): Promise<string>
  /** Ends the server by signal: `SIGINT` in order, `SIGQUIT` as a crash. The data stay. */
  end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
  /** Ends the server and removes its data. */
  stop(): Promise<void>
}

/** PostgreSQL refuses to run as root: there it runs as the account of Debian's package. */
export function postgresAccount(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const ask = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: ask('-u'), gid: ask('-g') }
}

/** A port of the loopback address that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}

const READY_DEADLINE_MS = 20_000

async function waitUntilReady(server: ChildProcess): Promise<void> {
  let said = ''
  const ready = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`PostgreSQL is not ready:\n${said}`)), READY_DEADLINE_MS)
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-8_192)
      if (!said.includes('database system is ready to accept connections')) return
      clearTimeout(timer)
      resolve()
    })
    server.once('exit', (code) => {
      clearTimeout(timer)
      reject(new Error(`PostgreSQL ended with ${code}:\n${said}`))
    })
  })
  await ready
}

/** A data directory of the account that may run the server. */
interface Home {
  readonly bin: string
  readonly directory: string
  readonly data: string
  readonly identity: { uid: number; gid: number } | undefined
}

/** The default collation is a language's, so that a query that forgot `COLLATE "C"` shows. */
function initialize(bin: string): Home {
  const directory = mkdtempSync(join(tmpdir(), 'ctl-postgres-'))
  const identity = postgresAccount()
  if (identity !== undefined) chownSync(directory, identity.uid, identity.gid)
  const data = join(directory, 'data')
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8']
  execFileSync(join(bin, 'initdb'), [...initdb, '--locale-provider=icu', '--icu-locale=en-US'], {
    cwd: directory,
    stdio: 'pipe',
    ...identity,
  })
  return { bin, directory, data, identity }
}

/** The server process, which may be ended and started again. */
function createServerProcess({ bin, directory, data, identity }: Home, port: number) {
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${directory}`]
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])]
  let server: ChildProcess | undefined
  return {
    pid: () => server?.pid ?? 0,
    async start() {
      server = spawn(join(bin, 'postgres'), args, { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'], ...identity })
      await waitUntilReady(server)
    },
    async end(signal: NodeJS.Signals) {
      if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
      const ended = once(server, 'exit')
      server.kill(signal)
      await ended
    },
  }
}

/**
 * Starts a cluster.
 * @throws Error when PostgreSQL is not on this machine: ask `requirement('postgresql')` first.
 */
export async function startPostgresCluster(): Promise<PostgresCluster> {
  const bin = requirement('postgresql')
  if (bin === undefined) throw new Error('PostgreSQL is not here')
  const home = initialize(bin)
  const port = await freePort()
  const server = createServerProcess(home, port)
  await server.start()
  const urlOf = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
  let databases = 0
  return {
    url: urlOf('postgres'),
    get pid() {
      return server.pid()
    },
    async createDatabase() {
      databases += 1
      const name = `test_${databases}`
      const client = new Client({ connectionString: urlOf('postgres') })
      await client.connect()
      await client.query(`create database ${name}`)
      await client.end()
      return urlOf(name)
    },
    start: () => server.start(),
    end: (signal) => server.end(signal),
    async stop() {
      await server.end('SIGINT')
      rmSync(home.directory, { recursive: true, force: true })
    },
  }
}
