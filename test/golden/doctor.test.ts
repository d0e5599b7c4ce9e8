import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createSecureServer } from 'node:https'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createCliHome, type CliHome, type CliResult } from '../support/cli/cli-run.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startStub, type StubAnswer, type StubRoutes, type StubServer } from '../support/cli/stub-server.ts'
import { expectGolden, transcriptOf, type Step } from '../support/cli/transcript.ts'
import { FLEET, TOKEN, WHOAMI } from './fleet.ts'

/** What a look at a healthy server finds, with the rows that a fault changes. */
const routes = (changes: StubRoutes): StubRoutes => ({ ...FLEET, ...caller('Operations', 90), ...changes })
const dateOff = (seconds: number) => () => ({
  body: { status: 'ready', probes: [] },
  headers: { date: new Date(Date.now() + seconds * 1000).toUTCString() },
})
const unwell = (status: string, detail: string) => ({
  status: status === 'unhealthy' ? 503 : 200,
  body: { status, probes: [{ name: 'db-primary', ok: false, informational: true, detail }] },
})

const dependency = (name: string, meanwhile: string, rest: object = { ok: true }) => ({
  name,
  since: new Date(Date.now() - 3 * 86_400_000).toISOString(),
  meanwhile,
  ...rest,
})
const EVENTS_WAIT = 'Events wait, none is lost. Everything else works.'
const away = (detail: string) => ({ ok: false, informational: true, detail })
const depending = (status: string, nats: object, signer: object) => ({
  body: {
    status,
    probes: [dependency('db-primary', 'Changes fail.'), dependency('jetstream', EVENTS_WAIT, nats)],
    unprobed: [dependency('signer', 'No session is issued.', signer)],
  },
})

interface Fault {
  readonly says: string
  readonly routes?: StubRoutes
  readonly env?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  readonly before?: (home: string) => void
  readonly exit: number
}

const NEWER = { 'x-service-api-version': 'current=v2, latest=v2' }
const caller = (name: string, expiresInDays: number, headers: StubAnswer['headers'] = {}): StubRoutes => {
  const expiresAt = new Date(Date.now() + expiresInDays * 86_400_000).toISOString()
  const credential = { ...WHOAMI.credential, expires_at: expiresAt }
  return { 'GET /v1/auth/whoami': { headers, body: { ...WHOAMI, display_name: name, credential } } }
}

const FAULTS: readonly Fault[] = [
  { says: 'nothing is wrong', exit: 0 },
  {
    says: 'everything that the server depends on is reachable',
    routes: { 'GET /readyz': depending('ready', { ok: true }, { ok: true }) },
    exit: 0,
  },
  {
    says: 'NATS is away',
    routes: { 'GET /readyz': depending('degraded', away('it does not answer'), { ok: true }) },
    exit: 10,
  },
  {
    says: 'the signing service refuses the server, which stays ready',
    routes: {
      'GET /readyz': depending('ready', { ok: true }, away('it does not accept the login of this server')),
    },
    exit: 10,
  },
  { says: 'the clock is a little off', routes: { 'GET /readyz': dateOff(-30) }, exit: 0 },
  { says: 'the clock is far off', routes: { 'GET /readyz': dateOff(300) }, exit: 10 },
  {
    says: 'the disk of the server is full',
    routes: { 'GET /readyz': unwell('degraded', 'it is read-only: it takes no writes') },
    exit: 10,
  },
  {
    says: 'the store of the server stopped',
    routes: { 'GET /readyz': unwell('degraded', 'it stopped for good: restart the server') },
    exit: 10,
  },
  {
    says: 'the database of the server is away',
    routes: { 'GET /readyz': unwell('unhealthy', 'it does not answer') },
    exit: 10,
  },
  {
    says: 'the server has left this API behind',
    routes: caller('Operations', 90, NEWER),
    exit: 10,
  },
  { says: 'the token is the bootstrap token and expires soon', routes: caller('Bootstrap', 3), exit: 0 },
  { says: 'the token is refused', env: { CTL_TOKEN: `${TOKEN.slice(0, -1)}b` }, exit: 10 },
  { says: 'the name does not resolve', env: { CTL_URL: 'http://ctl.invalid:7443' }, exit: 10 },
  { says: 'nothing listens', env: { CTL_URL: 'http://127.0.0.1:1' }, exit: 10 },
  {
    says: 'files are open to others',
    before(home) {
      for (const path of ['.config/ctl', 'data']) mkdirSync(join(home, path), { recursive: true })
      for (const path of ['.config/ctl/config.json', '.config/ctl/credentials.json', 'data/bootstrap-token'])
        writeFileSync(join(home, path), JSON.stringify({ version: 1, contexts: {}, tokens: {} }))
      for (const path of ['.config/ctl/config.json', '.config/ctl/credentials.json', 'data'])
        chmodSync(join(home, path), 0o777)
    },
    exit: 10,
  },
]

/** What differs from run to run and machine to machine. */
function plain(text: string): string {
  return text
    .replaceAll(/ctl \S+ on Node \d+\.\d+\.\d+/g, 'ctl 0.1.0 on Node 20.20.2')
    .replaceAll(/ready in \d+ ms/g, 'ready in 3 ms')
    .replaceAll(/(?:29\d|30\d) s (ahead|behind)/g, '300 s $1')
    .replaceAll(/(?:29|3[01]) s (ahead|behind)/g, '30 s $1')
    .replaceAll(/\((?:EAI_AGAIN|ENOTFOUND|ETIMEOUT)\)/g, '(ENOTFOUND)')
    .replaceAll(/since \d{4}-\S+Z/g, 'since 2026-02-01T12:00:00.000Z')
    .replaceAll(/expires in (?:89|90)d/g, 'expires in 90d')
    .replaceAll(/expires in [23]d/g, 'expires in 3d')
}

const plainly = (result: CliResult): CliResult => ({
  ...result,
  written: result.written.map(({ stream, text }) => ({ stream, text: plain(text) })),
})

describe.each(['tty', 'pipe'] as const)('ctl doctor on a %s', (where) => {
  it(`finds what is wrong and says how to mend it`, async () => {
    const steps: Step[] = []
    const replaced: Record<string, string> = {}
    for (const { says, routes: changes = {}, env = {}, args = [], before, exit } of FAULTS) {
      const stub: StubServer = await startStub(routes(changes), ({ path, headers }) =>
        path.startsWith('/v1/') && headers.authorization !== `Bearer ${TOKEN}`
          ? {
              status: 401,
              headers: { 'content-type': 'application/problem+json' },
              body: { code: 'unauthenticated', status: 401, title: 'x', detail: 'No credential that resolves.' },
            }
          : undefined,
      )
      const home: CliHome = createCliHome()
      before?.(home.home)
      const result = await home.run(['doctor', ...args], {
        isTty: where === 'tty',
        columns: 200,
        nowMs: Date.now,
        env: { CTL_URL: stub.url, CTL_TOKEN: TOKEN, SERVICE_DATA_DIR: join(home.home, 'data'), ...env },
      })
      await stub.close()
      home.remove()
      expect([says, result.exitCode]).toEqual([says, exit])
      Object.assign(replaced, { [stub.url]: 'http://127.0.0.1:7443', [home.home]: '~' })
      steps.push({ line: `ctl doctor   # ${says}`, result: plainly(result) })
    }
    expectGolden(`doctor.${where}`, transcriptOf(steps, replaced))
  }, 60_000)
})

describe.skipIf(requirement('openssl') === undefined)('ctl doctor looks at a certificate', () => {
  let folder: string
  let home: CliHome
  const servers: Server[] = []
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-doctor-'))
    home = createCliHome({ CTL_TOKEN: TOKEN })
  })
  afterEach(() => servers.splice(0).forEach((server) => server.close()))
  afterAll(() => {
    home.remove()
    rmSync(folder, { recursive: true })
  })

  /** A certificate that signs itself and ends so many days from now, in the past too. */
  function makeCertificate(name: string, days: number, altName: string): { cert: string; key: string } {
    const at = (file: string): string => join(folder, `${name}.${file}`)
    const openssl = (...args: string[]): void => void execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
    const instant = (offDays: number): string =>
      new Date(Date.now() + offDays * 86_400_000).toISOString().replaceAll(/[-:T]|\.\d+/g, '')
    const authority = ['new_certs_dir=.', `database=${at('index')}`, `serial=${at('serial')}`, 'default_md=sha256']
    const policy = ['policy=p', 'copy_extensions=copy', '[p]', 'commonName=supplied']
    writeFileSync(at('index'), '')
    writeFileSync(at('serial'), '01')
    writeFileSync(at('cnf'), ['[ca]', 'default_ca=d', '[d]', ...authority, ...policy, ''].join('\n'))
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', at('key')]
    openssl('req', ...kind, '-subj', `/CN=${name}`, '-addext', `subjectAltName=${altName}`, '-out', at('csr'))
    const validity = ['-startdate', instant(days - 365), '-enddate', instant(days)]
    const files = ['-config', at('cnf'), '-keyfile', at('key'), '-in', at('csr'), '-out', at('crt')]
    openssl('ca', '-batch', '-selfsign', '-notext', ...files, ...validity)
    return { cert: at('crt'), key: at('key') }
  }

  /** Serves with such a certificate on a free port. */
  async function serveWith(name: string, days: number, altName = 'IP:127.0.0.1'): Promise<{ url: string; ca: string }> {
    const { cert, key } = makeCertificate(name, days, altName)
    const server = createSecureServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
      const body = request.url === '/readyz' ? { status: 'ready', probes: [] } : WHOAMI
      const versions = { 'x-service-api-version': 'current=v1, latest=v1' }
      response.writeHead(200, { 'content-type': 'application/json', ...versions }).end(JSON.stringify(body))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    servers.push(server)
    return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, ca: cert }
  }

  async function encryption(url: string, ...args: string[]) {
    const { exitCode, stdout } = await home.run(['doctor', '--url', url, '-o', 'json', ...args], { nowMs: Date.now })
    const found: readonly Record<string, string>[] = JSON.parse(stdout)
    const { status, detail, advice } = found.find(({ check }) => check === 'encryption') ?? {}
    return { exitCode, status, detail, advice, server: found.find(({ check }) => check === 'server')?.['status'] }
  }

  it('of an authority that nobody here knows', async () => {
    const { url } = await serveWith('unknown', 90)
    expect(await encryption(url)).toEqual({
      exitCode: 10,
      status: 'problem',
      detail: 'its certificate is signed by an authority that is not known here (DEPTH_ZERO_SELF_SIGNED_CERT)',
      advice:
        'If that authority is yours: ctl contexts use NAME --ca-file FILE, or --ca-sha256 HEX; else use another certificate.',
      server: 'problem',
    })
  })

  it('that is trusted with --ca-file', async () => {
    const { url, ca } = await serveWith('known', 91)
    const { detail, ...rest } = await encryption(url, '--ca-file', ca)
    expect(rest).toEqual({ exitCode: 0, status: 'ok', advice: '', server: 'ok' })
    expect(detail).toMatch(/^TLSv1\.3, its certificate expires in (90|91)d$/)
  })

  it('that expires soon', async () => {
    const { url, ca } = await serveWith('soon', 5)
    expect(await encryption(url, '--ca-file', ca)).toMatchObject({
      exitCode: 0,
      status: 'warning',
      advice: 'Renew it in time.',
    })
  })

  it('that expired', async () => {
    const { url, ca } = await serveWith('late', -2)
    expect(await encryption(url, '--ca-file', ca)).toEqual({
      exitCode: 10,
      status: 'problem',
      detail: 'its certificate expired 2d ago',
      advice: 'Renew it; "ctl serve" reads --tls-cert and --tls-key again on SIGHUP.',
      server: 'problem',
    })
  })

  it('of another name', async () => {
    const { url, ca } = await serveWith('other', 90, 'DNS:mesh.example.com')
    expect(await encryption(url, '--ca-file', ca)).toMatchObject({
      exitCode: 10,
      status: 'problem',
      detail: 'its certificate is for mesh.example.com, not for 127.0.0.1',
    })
  })

  it('that is not there', async () => {
    const inTheClear = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1')
    await once(inTheClear, 'listening')
    servers.push(inTheClear)
    expect(await encryption(`https://127.0.0.1:${(inTheClear.address() as AddressInfo).port}`)).toMatchObject({
      exitCode: 10,
      status: 'problem',
      advice: 'Use http:// for plain HTTP.',
    })
  })
})
