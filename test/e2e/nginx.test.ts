import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { freePort } from '../support/datastores/postgres-cluster.ts'
import { callServer, enrol } from '../support/server/replicas.ts'
import { requirement } from '../support/run/requirements.mjs'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const nginx = requirement('nginx')
const isMissing = nginx === undefined || requirement('openssl') === undefined

describe.skipIf(isMissing)('behind nginx as deploy/nginx.conf has it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-nginx-'))
  const certificate = join(folder, 'cert.pem')
  const key = join(folder, 'key.pem')
  let port: number
  let server: CtlProcess
  /** The server without the proxy: its ready line says the address of that. */
  let direct: { readonly url: string }
  let proxy: ChildProcess
  let token: string

  /** The shipped configuration, with the addresses and files of this test. */
  function configuration(upstreamPort: number): string {
    const shipped = readFileSync(fileURLToPath(new URL('../../deploy/nginx.conf', import.meta.url)), 'utf8')
    const replacements: readonly (readonly [string, string])[] = [
      ['server 127.0.0.1:7443;', `server 127.0.0.1:${upstreamPort};`],
      ['  listen 443 ssl;\n  listen [::]:443 ssl;', `  listen 127.0.0.1:${port} ssl;`],
      ['/etc/ctl/cert.pem', certificate],
      ['/etc/ctl/key.pem', key],
    ]
    const adapted = replacements.reduce((conf, [from, to]) => {
      expect(conf.split(from)).toHaveLength(2)
      return conf.replace(from, to)
    }, shipped)
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (kind) => `${kind}_temp_path ${join(folder, 'temp', kind)};`,
    )
    const user = process.getuid?.() === 0 ? 'user root;' : ''
    return `${user} daemon off; worker_processes 1; pid ${join(folder, 'pid')}; error_log stderr warn;
events { worker_connections 256; }
http { access_log off; ${temporary.join(' ')}
${adapted}
}`
  }

  beforeAll(async () => {
    mkdirSync(join(folder, 'temp'))
    const subject = ['-subj', '/CN=ctl.example.net', '-addext', 'subjectAltName=DNS:ctl.example.net']
    const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1']
    execFileSync('openssl', [...made, ...subject, '-keyout', key, '-out', certificate], { stdio: 'pipe' })
    port = await freePort()
    const data = join(folder, 'data')
    const flags = ['--base-url', `https://ctl.example.net:${port}`, '--trusted-proxies', '127.0.0.1/32']
    const upstream = await freePort()
    direct = { url: `http://127.0.0.1:${upstream}` }
    server = await startCtl({
      args: ['--data-dir', data, '--log-level', 'debug', ...flags],
      listen: `127.0.0.1:${upstream}`,
    })
    token = readFileSync(join(data, 'bootstrap-token'), 'utf8').trim()
    const path = join(folder, 'nginx.conf')
    writeFileSync(path, configuration(upstream))
    execFileSync(nginx ?? '', ['-t', '-c', path, '-p', folder], { stdio: 'pipe' })
    proxy = spawn(nginx ?? '', ['-c', path, '-p', folder], { stdio: ['ignore', 'ignore', 'pipe'] })
    await vi.waitFor(async () => expect((await call('/livez')).status).toBe(200), { timeout: 20_000, interval: 100 })
  })
  afterAll(async () => {
    if (proxy.exitCode === null) {
      const ended = once(proxy, 'exit')
      proxy.kill('SIGTERM')
      await ended
    }
    await server.end('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })

  interface Asking {
    readonly headers?: Readonly<Record<string, string>>
    readonly localAddress?: string
  }

  async function ask(path: string, options: Asking = {}): Promise<IncomingMessage> {
    const asked = request({
      host: '127.0.0.1',
      port,
      path,
      servername: 'ctl.example.net',
      ca: readFileSync(certificate),
      agent: false,
      ...options,
      headers: { host: `ctl.example.net:${port}`, authorization: `Bearer ${token}`, ...options.headers },
    })
    asked.end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    return answer
  }

  async function call(path: string, options: Asking = {}): Promise<{ status: number; body: string }> {
    const answer = await ask(path, options)
    return { status: answer.statusCode ?? 0, body: await text(answer) }
  }

  /** The client address that the server saw. */
  async function addressOf(correlationId: string): Promise<unknown> {
    const find = (): unknown =>
      server
        .stderr()
        .split('\n')
        .filter((line) => line.includes(`"${correlationId}"`))
        .map((line): Record<string, unknown> => JSON.parse(line))
        .find(({ msg }) => msg === 'request')?.['address']
    await vi.waitFor(() => expect(find()).toBeDefined(), { timeout: 60_000 })
    return find()
  }

  test('calls pass, and the server learns the address of who calls, whatever the caller says it is', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9', 'x-correlation-id': 'behind-nginx' }
    const { status, body } = await call('/v1/auth/whoami', { headers, localAddress: '127.0.0.2' })
    expect(status).toBe(200)
    expect(JSON.parse(body)).toMatchObject({ display_name: 'Bootstrap' })
    expect(await addressOf('behind-nginx')).toBe('127.0.0.2')
  })

  test('a refusal arrives as the problem document that the server wrote', async () => {
    const answer = await ask('/v1/auth/whoami', { headers: { authorization: 'Bearer psk_no' } })
    expect(answer.statusCode).toBe(401)
    expect(answer.headers['content-type']).toBe('application/problem+json')
    expect(JSON.parse(await text(answer))).toMatchObject({ code: 'unauthenticated' })
  })

  test('an event stream passes byte for byte, and ends with the server’s farewell', async () => {
    const { body: whoami } = await callServer(direct, { token, path: '/v1/auth/whoami' })
    const enrolling = { token, domainId: String(whoami['domain_id']), nodes: 1 }
    const [node] = await enrol(direct, enrolling)
    const headers = { authorization: `Bearer ${node?.nsk ?? ''}` }
    const stream = await ask(`/v1/nodes/${node?.id ?? ''}/events`, { headers })
    expect(stream.statusCode).toBe(200)
    expect(stream.headers['content-type']).toBe('text/event-stream')
    let said = ''
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
    })
    // Held back, the few bytes of the beginning would come only with the end.
    await vi.waitFor(() => expect(said).toMatch(/^:/), { timeout: 60_000 })
    await enrol(direct, enrolling)
    await vi.waitFor(() => expect(said).toMatch(/^event: node_state_updated$/m), { timeout: 20_000 })
    const ended = once(stream, 'close')
    expect(await server.end('SIGTERM')).toBe(0)
    await ended
    expect(said).toMatch(/^retry: \d+$/m)
  })
})
