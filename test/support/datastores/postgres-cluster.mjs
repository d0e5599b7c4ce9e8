import { execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { postgresImage } from './images.mjs'
import { requirement } from '../run/requirements.mjs'

let account

/** PostgreSQL refuses to run as root: there it runs as the account of Debian's package. */
export function postgresAccount() {
  if (process.getuid?.() !== 0) return undefined
  const ask = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  account ??= { uid: ask('-u'), gid: ask('-g') }
  return account
}

/** Below the ephemeral ports: an outgoing connection could take one of those before the server has it, or between two starts. */
const PORTS = { first: 16_384, end: 32_768 }

/** A port of the loopback address that nothing listens on. */
export async function freePort() {
  for (;;) {
    const port = randomInt(PORTS.first, PORTS.end)
    if (await isFree(port)) return port
  }
}

async function isFree(port) {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    if (error.code === 'EADDRINUSE') return false
    throw error
  }
  server.close()
  await once(server, 'close')
  return true
}

const READY_DEADLINE_MS = 60_000

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

/** Saves the waits for the disk. A crash of the server loses nothing without them, only a loss of power does. */
const WITHOUT_SYNC = ['fsync=off', 'full_page_writes=off']

/**
 * Path of the data directory that `initdb` makes, which may only be copied.
 * @throws Error when PostgreSQL is not on this machine: ask `requirement('postgresql')` first.
 */
export function blankPostgresImage(collation = AS_A_LANGUAGE) {
  const args = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', ...collation]
  return postgresImage(postgresPrograms(), args, postgresAccount())
}

function postgresPrograms() {
  const bin = requirement('postgresql')
  if (bin === undefined) throw new Error('PostgreSQL is not here')
  return bin
}

/** A data directory of the account that may run the server. */
async function initialize({ collation, image }) {
  const directory = mkdtempSync(join(tmpdir(), 'ctl-postgres-'))
  const identity = postgresAccount()
  if (identity !== undefined) chownSync(directory, identity.uid, identity.gid)
  const data = join(directory, 'data')
  execFileSync('cp', ['-a', image ?? (await blankPostgresImage(collation)), data])
  return { bin: postgresPrograms(), directory, data, identity }
}

/** The server process, which may be ended and started again. */
function createServerProcess({ bin, directory, data, identity }, { port, isDurable, settings: asked }) {
  const place = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${directory}`]
  const settings = [...place, ...(isDurable ? [] : WITHOUT_SYNC), ...asked]
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
 * Starts a cluster. `settings`: further ones of the server, such as `max_connections=200`.
 *
 * @throws Error when PostgreSQL is not on this machine: ask `requirement('postgresql')` first.
 */
export async function startPostgresCluster({ isDurable = true, settings = [], ...content } = {}) {
  const home = await initialize(content)
  const port = await freePort()
  const server = createServerProcess(home, { port, isDurable, settings })
  await server.start()
  const urlOf = (database) => `postgres://postgres@127.0.0.1:${port}/${database}`
  let databases = 0
  return {
    url: urlOf('postgres'),
    dataDirectory: home.data,
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
      // An orderly end would write everything to the disk first.
      await server.end('SIGQUIT')
      rmSync(home.directory, { recursive: true, force: true })
    },
  }
}
