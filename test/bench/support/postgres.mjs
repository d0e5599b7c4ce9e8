import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Folder of the newest PostgreSQL server binaries from Debian's packages; undefined when there are none. */
export function postgresBinaries() {
  const root = '/usr/lib/postgresql'
  if (!existsSync(root)) return undefined
  const versions = readdirSync(root).toSorted((a, b) => Number(b) - Number(a))
  return versions.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'postgres')))
}

/** Starts a durable cluster on loopback: fsync and synchronous_commit stay on, as the caller can ask `show` for. */
export async function startPostgres() {
  const bin = postgresBinaries()
  if (bin === undefined) throw new Error('PostgreSQL server binaries are missing: apt-get install postgresql')
  const directory = mkdtempSync(join(tmpdir(), 'ctl-bench-pg-'))
  const asPostgres = process.getuid() === 0 ? ['runuser', '-u', 'postgres', '--'] : []
  if (asPostgres.length > 0) chownSync(directory, ...idsOfPostgres())
  const data = join(directory, 'data')
  run([...asPostgres, join(bin, 'initdb'), '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'])
  const port = await freePort()
  const [command, ...args] = [
    ...asPostgres,
    join(bin, 'postgres'),
    '-D',
    data,
    '-p',
    String(port),
    '-c',
    'listen_addresses=127.0.0.1',
    '-k',
    directory,
  ]
  const child = spawn(command, args, { stdio: 'ignore' })
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  await waitUntilReady(join(bin, 'pg_isready'), port)
  return {
    url,
    /** Runs one statement and answers its output. */
    query: (sql) => execFileSync(join(bin, 'psql'), [url, '-Atc', sql]).toString().trim(),
    async stop() {
      execFileSync(
        asPostgres[0] ?? join(bin, 'pg_ctl'),
        [
          ...asPostgres.slice(1),
          ...(asPostgres.length > 0 ? [join(bin, 'pg_ctl')] : []),
          'stop',
          '-D',
          data,
          '-m',
          'fast',
        ],
        { stdio: 'ignore' },
      )
      if (child.exitCode === null) await once(child, 'exit')
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function run([command, ...args]) {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' })
}

function idsOfPostgres() {
  return ['-u', '-g'].map((which) => Number(execFileSync('id', [which, 'postgres']).toString()))
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

async function waitUntilReady(pgIsReady, port) {
  for (let attempt = 0; attempt < 200; attempt++) {
    try {
      execFileSync(pgIsReady, ['-h', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  throw new Error('PostgreSQL did not start within 10 s')
}
