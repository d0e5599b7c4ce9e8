import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { postgresImage } from './images.mjs'
import { requirement } from '../run/requirements.mjs'

/** PostgreSQL refuses to run as root: there it runs as the account of Debian's package. */
export function postgresAccount() {
  if (process.getuid?.() !== 0) return undefined
  const ask = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: ask('-u'), gid: ask('-g') }
}

/** A port of the loopback address that nothing listens on. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}

const READY_DEADLINE_MS = 20_000

async function waitUntilReady(server) {
  let said = ''
  const ready = new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`PostgreSQL is not ready:\n${said}`)), READY_DEADLINE_MS)
    server.stderr?.setEncoding('utf8').on('data', (text) => {
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

/** A query that forgot `COLLATE "C"` shows. */
const AS_A_LANGUAGE = ['--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US']

/** A data directory of the account that may run the server. */
async function initialize(bin, collation) {
  const directory = mkdtempSync(join(tmpdir(), 'ctl-postgres-'))
  const identity = postgresAccount()
  if (identity !== undefined) chownSync(directory, identity.uid, identity.gid)
  const data = join(directory, 'data')
  const image = await postgresImage(bin, ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', ...collation], identity)
  execFileSync('cp', ['-a', image, data])
  return { bin, directory, data, identity }
}

/** The server process, which may be ended and started again. */
function createServerProcess({ bin, directory, data, identity }, port) {
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${directory}`]
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])]
  let server
  return {
    pid: () => server?.pid ?? 0,
    async start() {
      server = spawn(join(bin, 'postgres'), args, { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'], ...identity })
      await waitUntilReady(server)
    },
    async end(signal) {
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
export async function startPostgresCluster(collation = AS_A_LANGUAGE) {
  const bin = requirement('postgresql')
  if (bin === undefined) throw new Error('PostgreSQL is not here')
  const home = await initialize(bin, collation)
  const port = await freePort()
  const server = createServerProcess(home, port)
  await server.start()
  const urlOf = (database) => `postgres://postgres@127.0.0.1:${port}/${database}`
  let databases = 0
  return {
    url: urlOf('postgres'),
    get pid() {
      return server.pid()
    },
    async createDatabase() {
      databases += 1
      const name = `test_${databases}`
      const client = new pg.Client({ connectionString: urlOf('postgres') })
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
