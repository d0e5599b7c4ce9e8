import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect } from 'node:tls'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { runCtl, startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { requirement } from '../support/run/requirements.mjs'

/** A first start writes a thousand files and syncs them, which a busy machine takes its time for. */
const START_DEADLINE_MS = 120_000
vi.setConfig({ testTimeout: START_DEADLINE_MS })

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctl-serve-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const OTHER_KEY = Buffer.alloc(32, 8).toString('base64')

function serve(...args: string[]): ReturnType<typeof runCtl> {
  return runCtl(['serve', '--data-dir', join(folder, 'data'), ...args])
}

/** A program that holds a port. */
async function squatter(): Promise<{ server: Server; address: string }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, address: `127.0.0.1:${(server.address() as AddressInfo).port}` }
}

describe('a server that cannot start says why in one sentence and leaves nothing behind', () => {
  const nothingMade = (): boolean => !existsSync(join(folder, 'data'))

  test.each(['--listen', '--ops-listen'])('the port of %s is in use', async (flag) => {
    const { server, address } = await squatter()
    const other = flag === '--listen' ? [] : ['--listen', '127.0.0.1:0']
    const { exitCode, stdout, stderr } = await serve(flag, address, ...other)
    server.close()
    expect(stderr).toBe(
      `ctl serve: Cannot listen on ${address}: another program listens there; stop it or choose another port with ${flag}.\n`,
    )
    expect([exitCode, stdout, nothingMade()]).toEqual([1, '', true])
  })

  test('the certificate is missing', async () => {
    const { exitCode, stderr } = await serve(
      '--listen',
      '127.0.0.1:0',
      '--tls-cert',
      '/nonexistent/c',
      '--tls-key',
      '/k',
    )
    expect(stderr).toBe(
      'ctl serve: The file /nonexistent/c of --tls-cert cannot be read (ENOENT); check the path and its mode.\n',
    )
    expect([exitCode, nothingMade()]).toEqual([1, true])
  })

  test('a flag is mistyped', async () => {
    const { exitCode, stderr } = await serve('--opslisten', '127.0.0.1:0')
    expect(stderr).toBe('ctl serve: There is no flag --opslisten. Did you mean --ops-listen?\n')
    expect([exitCode, nothingMade()]).toEqual([2, true])
  })

  test('a secret stands on the command line', async () => {
    const { exitCode, stderr } = await serve('--database-url', 'postgres://ctl:hunter2@127.0.0.1/ctl')
    expect(stderr).toContain('--database-url holds a password, which everybody on this machine could read')
    expect(stderr).not.toContain('hunter2')
    expect(exitCode).toBe(2)
  })

  test('the data directory lies below a file', async () => {
    writeFileSync(join(folder, 'data'), '')
    const below = await runCtl(['serve', '--listen', '127.0.0.1:0', '--data-dir', join(folder, 'data/below')])
    expect(below.stderr).toContain(
      `ctl serve: The data directory ${join(folder, 'data/below')} is not a directory: choose another with --data-dir.\n`,
    )
    expect(below.exitCode).toBe(1)
  })

  test('nothing listens where the database should be', async () => {
    const { server, address } = await squatter()
    server.close()
    await once(server, 'close')
    const { exitCode, stderr } = await serve(
      '--listen',
      '127.0.0.1:0',
      '--database-url',
      `postgres://ctl@${address}/ctl`,
    )
    expect(stderr).toBe(
      `ctl serve: PostgreSQL at ${address}/ctl cannot be used: nothing listens there: start it or check --database-url.\n`,
    )
    expect([exitCode, nothingMade()]).toEqual([8, true])
  })
})

test('--check judges the configuration and starts nothing', async () => {
  expect(await serve('--check')).toEqual({ exitCode: 0, stdout: '', stderr: 'The configuration is valid.\n' })
  expect((await serve('--check', '--listen', '0.0.0.0:1')).exitCode).toBe(1)
  const { exitCode, stderr } = await serve('--check', '--backup-dir', join(folder, 'nowhere'))
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('of --backup-dir cannot be written (ENOENT)')])
  expect(existsSync(join(folder, 'data'))).toBe(false)
})

test('--help lists the flags of the server on stdout', async () => {
  const { exitCode, stdout } = await runCtl(['serve', '--help'])
  expect(exitCode).toBe(0)
  expect(stdout).toContain('--ops-listen HOST:PORT')
})

/** A directory for all tests of the surrounding `describe`. */
function useHome(): { data(): string; path(name: string): string } {
  let home: string
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'ctl-serve-'))
  })
  afterAll(() => rmSync(home, { recursive: true, force: true }))
  return { data: () => join(home, 'data'), path: (name) => join(home, name) }
}

describe('a server started for the first time on the embedded store', () => {
  const { data } = useHome()
  let server: CtlProcess
  beforeAll(async () => {
    server = await startCtl({ args: ['--data-dir', data(), '--ops-listen', '127.0.0.1:0'], limits: 'shipped' })
  }, START_DEADLINE_MS)
  afterAll(() => server.end('SIGKILL'))

  test('says what to type next, and prints one line for scripts', async () => {
    const { url, opsUrl, pid } = server
    expect(JSON.parse(server.stdout())).toEqual({ event: 'ready', url, ops_url: opsUrl, pid, version: '0.1.0' })
    expect(server.stdout().split('\n')).toHaveLength(2)
    expect(server.stderr()).toContain(`npx ctl login --url ${url} --with-token < ${data()}/bootstrap-token\n`)
    const token = readFileSync(join(data(), 'bootstrap-token'), 'utf8').trim()
    const whoami = await fetch(`${url}/v1/auth/whoami`, { headers: { authorization: `Bearer ${token}` } })
    expect(await whoami.json()).toMatchObject({ kind: 'service-identity', display_name: 'Bootstrap' })
    expect(server.stderr()).not.toContain(token)
  })

  test('answers for its health and counts what it answers', async () => {
    expect(await (await fetch(`${server.url}/livez`)).text()).toBe('ok\n')
    const ready = await fetch(`${server.url}/readyz`)
    expect(await ready.json()).toMatchObject({
      status: 'ready',
      probes: [
        { name: 'db-primary', ok: true },
        { name: 'embedded-engine', ok: true },
      ],
    })
    await fetch(`${server.url}/v1/domains`)
    const metrics = await (await fetch(`${server.opsUrl}/metrics`)).text()
    expect(metrics).toContain('health_probe_up{probe="db-primary"} 1')
    expect(metrics).toContain('http_requests_total{operation="ListDomains",status="401"} 1')
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404)
  })

  test('is known to another one that wants its port', async () => {
    const address = new URL(server.url).host
    const { exitCode, stderr } = await runCtl(['serve', '--listen', address, '--data-dir', `${data()}-2`])
    expect(stderr).toBe(
      `ctl serve: Cannot listen on ${address}: another ctl server answers there; use it, stop it, or choose another port with --listen.\n`,
    )
    expect([exitCode, existsSync(`${data()}-2`)]).toEqual([1, false])
  })

  test('sends an address away from which thirty wrong credentials came within a minute', async () => {
    const guess = () => fetch(`${server.url}/v1/auth/whoami`, { headers: { authorization: 'Bearer psk_guess' } })
    let answer = await guess()
    let tries = 1
    // A slow machine is given back one every two seconds meanwhile.
    for (; answer.status === 401 && tries < 100; tries += 1) answer = await guess()
    expect(tries).toBeGreaterThan(30)
    expect(answer.status).toBe(429)
    expect(answer.headers.get('retry-after')).toMatch(/^[12]$/)
  })

  test.each([
    ['another server', ['serve', '--listen', '127.0.0.1:0']],
    ['ctl admin bootstrap-token', ['admin', 'bootstrap-token']],
    ['ctl admin master-key rotate', ['admin', 'master-key', 'rotate']],
  ])('keeps %s off its data directory', async (_, command) => {
    const { exitCode, stderr } = await runCtl([...command, '--data-dir', data()])
    expect(stderr).toContain(`The data directory ${data()} is in use by process ${server.pid}`)
    expect(exitCode).toBe(1)
  })
})

describe('the data directory of a server that was stopped', () => {
  const { data, path } = useHome()
  beforeAll(async () => {
    const server = await startCtl({ args: ['--data-dir', data()] })
    expect(await server.end('SIGTERM')).toBe(0)
  }, START_DEADLINE_MS)

  test('is found in order by the next start, which SIGINT ends in order too', async () => {
    const again = await startCtl({ args: ['--data-dir', data()] })
    expect(again.stderr()).not.toMatch(/unclean|First start/)
    expect(await again.end('SIGINT')).toBe(0)
  })

  test('does not open with another master key, whose id and the right one are named', async () => {
    const env = { SERVICE_MASTER_KEY: OTHER_KEY }
    const { exitCode, stderr } = await runCtl(['serve', '--listen', '127.0.0.1:0', '--data-dir', data()], env)
    expect(stderr).toMatch(
      /^ctl serve: The keys of this datastore are sealed under master key mk-[0-9a-f]{12}, not under mk-[0-9a-f]{12}, .*\n$/,
    )
    expect(exitCode).toBe(1)
  })

  test('gives a token that signs in to ctl admin bootstrap-token', async () => {
    const { exitCode, stdout } = await runCtl(['admin', 'bootstrap-token', '--data-dir', data()])
    expect(exitCode).toBe(0)
    const server = await startCtl({ args: ['--data-dir', data()] })
    const headers = { authorization: `Bearer ${stdout.trim()}` }
    expect((await fetch(`${server.url}/v1/auth/whoami`, { headers })).status).toBe(200)
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('is not founded where the bootstrap token file exists already', async () => {
    writeFileSync(path('taken'), 'mine')
    const args = ['--data-dir', path('other'), '--bootstrap-token-file', path('taken')]
    const { exitCode, stderr } = await runCtl(['serve', '--listen', '127.0.0.1:0', ...args])
    expect(stderr).toContain(
      `The bootstrap token cannot be written to ${path('taken')} (EEXIST): move the file that is there away, or name another with --bootstrap-token-file.\n`,
    )
    expect([exitCode, readFileSync(path('taken'), 'utf8')]).toEqual([1, 'mine'])
  })
})

describe.skipIf(requirement('postgresql') === undefined)('on PostgreSQL', () => {
  let cluster: PostgresCluster
  beforeAll(async () => {
    cluster = await startPostgresCluster()
  })
  afterAll(() => cluster.stop())

  async function change(url: string, statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(statement)
    await client.end()
  }
  const refused = (url: string, env: Readonly<Record<string, string>> = {}): ReturnType<typeof runCtl> =>
    runCtl(['serve', '--listen', '127.0.0.1:0', '--data-dir', join(folder, 'data'), '--database-url', url], env)

  test('it starts, signs in, stops, and starts again with the keys that it made', async () => {
    const args = ['--data-dir', join(folder, 'data'), '--database-url', await cluster.createDatabase()]
    const server = await startCtl({ args })
    const token = readFileSync(join(folder, 'data/bootstrap-token'), 'utf8').trim()
    const headers = { authorization: `Bearer ${token}` }
    expect((await fetch(`${server.url}/v1/auth/whoami`, { headers })).status).toBe(200)
    expect(await server.end('SIGTERM')).toBe(0)
    const again = await startCtl({ args })
    expect(again.stderr()).not.toMatch(/unclean|First start/)
    expect((await fetch(`${again.url}/v1/auth/whoami`, { headers })).status).toBe(200)
    expect(await again.end('SIGTERM')).toBe(0)
  })

  test('another master key and a newer schema stop the start and change nothing', async () => {
    const url = await cluster.createDatabase()
    const server = await startCtl({ args: ['--data-dir', join(folder, 'data'), '--database-url', url] })
    await server.end('SIGTERM')
    const wrongKey = await refused(url, { SERVICE_MASTER_KEY: OTHER_KEY })
    expect(wrongKey.stderr).toMatch(/^ctl serve: The keys of this datastore are sealed under master key mk-.*\n$/)
    await change(url, "insert into schema_migrations values ('9999-future', 'x', now())")
    const newer = await refused(url)
    expect(newer.stderr).toMatch(
      /^ctl serve: The database has the schema of a newer version \(migration 9999-future\).*\n$/,
    )
    expect([wrongKey.exitCode, newer.exitCode]).toEqual([1, 1])
  })

  test('while the database is away the server is degraded, and it recovers by itself', async () => {
    const url = await cluster.createDatabase()
    const server = await startCtl({ args: ['--data-dir', join(folder, 'data'), '--database-url', url] })
    const headers = { authorization: `Bearer ${readFileSync(join(folder, 'data/bootstrap-token'), 'utf8').trim()}` }
    const health = async (): Promise<unknown> => {
      const answer = await fetch(`${server.url}/readyz`)
      return [answer.status, ((await answer.json()) as { status: string }).status]
    }
    const status = async (path: string): Promise<number> => (await fetch(`${server.url}${path}`, { headers })).status
    expect(await health()).toEqual([200, 'ready'])
    await cluster.end('SIGINT')
    await vi.waitFor(async () => expect(await health()).toEqual([200, 'degraded']), 20_000)
    expect(await status('/v1/domains')).toBe(503)
    expect(await status('/livez')).toBe(200)
    await cluster.start()
    await vi.waitFor(async () => expect(await health()).toEqual([200, 'ready']), 20_000)
    await vi.waitFor(async () => expect(await status('/v1/domains')).toBe(200), 20_000)
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('a database that takes no writes stops the start', async () => {
    const url = await cluster.createDatabase()
    await change(url, `alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`)
    const { exitCode, stderr } = await refused(url)
    expect(stderr).toMatch(/^ctl serve: The database takes no writes: .*\n$/)
    expect([exitCode, existsSync(join(folder, 'data/master.key'))]).toEqual([8, false])
  })
})

describe('--dev', () => {
  test('serves from memory, keeps a context, adds a catalogue and plays a fleet with --demo', async () => {
    const env = { CTL_CONFIG_DIR: join(folder, 'config') }
    const server = await startCtl({ args: ['--dev', '--demo'], env, limits: 'shipped' })
    await vi.waitFor(() => expect(server.stderr()).toMatch(/Join token for a day: jtk_local_/), 20_000)
    const listed = async (): Promise<number> => {
      const { stdout } = await runCtl(['nodes', 'list', '--reachability', 'healthy', '--all', '-o', 'name'], env)
      return stdout.split('\n').filter((line) => line !== '').length
    }
    await vi.waitFor(async () => expect(await listed()).toBe(50), { timeout: 40_000, interval: 500 })
    const rows = async (...line: string[]) => (await runCtl([...line, '--no-headers'], env)).stdout.trim().split('\n')
    expect(await rows('bundles', 'list', '--columns', 'slug,latest_version')).toEqual(['hetzner-base\t3'])
    expect(await rows('clouds', 'list', '--columns', 'slug,status')).toEqual(['eu1\tup to date', 'us1\t2 behind'])
    expect(await rows('approvals', 'list', '--columns', 'state,action_summary')).toEqual([
      'pending-approval\tLend the Cloud eu1 to the Project default.',
    ])
    expect(await server.end('SIGINT')).toBe(0)
  })

  test.each([
    { what: 'makes the former context current again at its end', current: 'prod', previous: 'test', after: 'prod' },
    {
      what: 'restores what was current before a server that was killed',
      current: 'dev',
      previous: 'prod',
      after: 'prod',
    },
  ])('$what', async ({ current, previous, after }) => {
    const config = join(folder, `config-${current}`)
    const file = join(config, 'config.json')
    const contexts = { prod: { url: 'https://prod.example', token_store: 'file' } }
    mkdirSync(config)
    writeFileSync(file, JSON.stringify({ version: 1, current, previous, contexts }))
    const stored = (): { current?: string } => JSON.parse(readFileSync(file, 'utf8'))
    const server = await startCtl({ args: ['--dev'], env: { CTL_CONFIG_DIR: config } })
    await vi.waitFor(() => expect(server.stderr()).toContain('Join token for a day'), 20_000)
    expect(stored()).toMatchObject({ current: 'dev' })
    expect(await server.end('SIGTERM')).toBe(0)
    expect(stored()).toMatchObject({ current: after })
  })
})

describe.skipIf(requirement('openssl') === undefined)('TLS', () => {
  function makeCertificate(name: string): { cert: string; key: string } {
    const [cert, key] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)]
    const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1']
    const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1']
    execFileSync('openssl', ['req', ...options, ...subject, '-keyout', key, '-out', cert], { stdio: 'pipe' })
    return { cert, key }
  }

  /** The name on the certificate that a new connection is shown. */
  async function shownName(url: string): Promise<string | undefined> {
    const { hostname, port } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const { subject } = socket.getPeerCertificate()
    socket.destroy()
    return String(subject?.CN)
  }

  test('is served, read again on SIGHUP, and stays when what was read does not fit', async () => {
    const [first, second] = [makeCertificate('first'), makeCertificate('second')]
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    const install = (from: { cert: string; key: string }): void => {
      writeFileSync(cert, readFileSync(from.cert))
      writeFileSync(key, readFileSync(from.key))
    }
    install(first)
    const env = { CTL_CONFIG_DIR: join(folder, 'config') }
    const server = await startCtl({ args: ['--dev', '--tls-cert', cert, '--tls-key', key], env })
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    const call = request(`${server.url}/livez`, { ca: readFileSync(first.cert) }).end()
    const [answer] = (await once(call, 'response')) as [NodeJS.ReadableStream]
    expect(await text(answer)).toBe('ok\n')

    install(second)
    process.kill(server.pid, 'SIGHUP')
    await vi.waitFor(async () => expect(await shownName(server.url)).toBe('second'), 10_000)

    install({ cert: first.cert, key: second.key })
    process.kill(server.pid, 'SIGHUP')
    await vi.waitFor(() => expect(server.stderr()).toContain('certificate and key stay as they were'), 10_000)
    expect(await shownName(server.url)).toBe('second')
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('a key of another certificate stops the start', async () => {
    const [first, second] = [makeCertificate('first'), makeCertificate('second')]
    const { exitCode, stderr } = await serve('--check', '--tls-cert', first.cert, '--tls-key', second.key)
    expect(stderr).toMatch(
      /^ctl serve: The certificate \S+ and the key \S+ cannot be used together \(.*\); give PEM files/,
    )
    expect(exitCode).toBe(1)
  })
})
