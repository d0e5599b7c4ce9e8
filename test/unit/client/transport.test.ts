import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { makeAuthority } from '../../../src/server/adapters/own-authority/certificates.ts'
import { requirement } from '../../support/run/requirements.mjs'
import { createTransport, type Transport } from '../../../src/client/transport.ts'

const GET = { method: 'GET', path: '/v1/x', headers: {} }

/** A certificate of its own making for 127.0.0.1, PEM. */
function selfSigned(directory: string): { readonly key: string; readonly cert: string } {
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
  const subject = ['-subj', '/CN=ctl-test', '-addext', 'subjectAltName=IP:127.0.0.1']
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1']
  execFileSync('openssl', [...made, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' })
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
}

describe('The transport', () => {
  const closing: (() => void)[] = []
  afterEach(() => {
    for (const close of closing.splice(0)) close()
  })

  async function listen(
    handler: RequestListener,
    where: { readonly path: string } | { readonly port: 0 } = { port: 0 },
  ): Promise<Server> {
    const server = createServer(handler)
    await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', ...where }, resolve))
    closing.push(
      () => server.close(),
      () => server.closeAllConnections(),
    )
    return server
  }

  function open(url: string): Transport {
    const transport = createTransport({ url })
    closing.push(() => transport.close())
    return transport
  }

  const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  it('reuses its connection', async () => {
    const ports = new Set<number | undefined>()
    const server = await listen((request, response) => {
      ports.add(request.socket.remotePort)
      response.end('ok')
    })
    const transport = open(urlOf(server))
    await transport.exchange(GET)
    await transport.exchange(GET)
    expect(ports.size).toBe(1)
  })

  it('keeps the path of its base URL', async () => {
    const server = await listen((request, response) => response.end(request.url))
    expect((await open(`${urlOf(server)}/mesh/`).exchange(GET)).body.toString()).toBe('/mesh/v1/x')
  })

  it('connects to a unix socket', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'ctl-socket-'))
    closing.push(() => rmSync(directory, { recursive: true }))
    const path = join(directory, 'ctl.sock')
    await listen((_, response) => response.end('here'), { path })
    expect((await open(`unix:${path}`).exchange(GET)).body.toString()).toBe('here')
  })

  it('sends bytes with their length, and joins repeated headers', async () => {
    const server = await listen((request, response) => {
      response.setHeader('x-two', ['a', 'b'])
      request.pipe(response)
      response.setHeader('x-length', request.headers['content-length'] ?? '')
    })
    const { headers, body } = await open(urlOf(server)).exchange({ ...GET, method: 'POST', body: 'ä€' })
    expect([headers['x-two'], headers['x-length'], body.toString()]).toEqual(['a, b', '5', 'ä€'])
  })

  it('reports that there is no connection', async () => {
    const server = await listen(() => undefined)
    const url = urlOf(server)
    await new Promise((resolve) => server.close(resolve))
    await expect(open(url).exchange(GET)).rejects.toMatchObject({
      fault: 'unreachable',
      message: 'no connection (ECONNREFUSED)',
    })
  })

  it('reports a connection that broke before or during the answer', async () => {
    const before = await listen((request) => request.socket.destroy())
    await expect(open(urlOf(before)).exchange(GET)).rejects.toMatchObject({ fault: 'broken' })
    const during = await listen((request, response) => {
      response.writeHead(200, { 'content-length': '10' })
      response.write('half')
      setImmediate(() => request.socket.destroy())
    })
    await expect(open(urlOf(during)).exchange(GET)).rejects.toMatchObject({ fault: 'broken' })
  })

  it('stops waiting at the deadline', async () => {
    const server = await listen(() => undefined)
    await expect(open(urlOf(server)).exchange({ ...GET, timeoutMs: 20 })).rejects.toMatchObject({
      fault: 'timeout',
      message: 'no answer within 20 ms',
    })
  })

  it('stops when its signal is aborted, before and during the request', async () => {
    const controller = new AbortController()
    const server = await listen(() => controller.abort())
    const transport = open(urlOf(server))
    await expect(transport.exchange({ ...GET, signal: controller.signal })).rejects.toMatchObject({ fault: 'aborted' })
    await expect(transport.exchange({ ...GET, signal: controller.signal })).rejects.toMatchObject({ fault: 'aborted' })
  })

  it.skipIf(requirement('openssl') === undefined)(
    'trusts the given certificate authority and no unknown one',
    async () => {
      const directory = mkdtempSync(join(tmpdir(), 'ctl-tls-'))
      closing.push(() => rmSync(directory, { recursive: true }))
      const { key, cert } = selfSigned(directory)
      const server = createTlsServer({ key, cert }, (_, response) => response.end('sealed'))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      closing.push(
        () => server.close(),
        () => server.closeAllConnections(),
      )
      const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
      await expect(open(url).exchange(GET)).rejects.toMatchObject({ fault: 'untrusted' })
      const trusting = createTransport({ url, ca: cert })
      closing.push(() => trusting.close())
      expect((await trusting.exchange(GET)).body.toString()).toBe('sealed')
    },
  )

  it.skipIf(requirement('openssl') === undefined)(
    'trusts no other authority beside a pinned one, in calls and in streams',
    async () => {
      const directory = mkdtempSync(join(tmpdir(), 'ctl-tls-'))
      closing.push(() => rmSync(directory, { recursive: true }))
      const { key, cert } = selfSigned(directory)
      const pinnedCa = (await makeAuthority(Date.now())).cert
      const server = createTlsServer({ key, cert }, (_, response) => response.end('sealed'))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      closing.push(
        () => server.close(),
        () => server.closeAllConnections(),
      )
      const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
      const [pinned, pinnedBeside] = [
        createTransport({ url, pinnedCa: cert }),
        createTransport({ url, ca: cert, pinnedCa }),
      ]
      closing.push(
        () => pinned.close(),
        () => pinnedBeside.close(),
      )
      expect((await pinned.exchange(GET)).body.toString()).toBe('sealed')
      expect((await pinned.open(GET)).status).toBe(200)
      await expect(pinnedBeside.exchange(GET)).rejects.toMatchObject({ fault: 'untrusted' })
      await expect(pinnedBeside.open(GET)).rejects.toMatchObject({ fault: 'untrusted' })
    },
  )

  it.each(['ftp://x', 'nonsense', 'http://user:pass@x', 'http://x/?a=1', 'unix:', ''])('refuses the URL %j', (url) => {
    expect(() => createTransport({ url })).toThrow(TypeError)
  })
})
