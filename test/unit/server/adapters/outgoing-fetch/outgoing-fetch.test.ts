import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createOutgoingFetch } from '../../../../../src/server/adapters/outgoing-fetch/outgoing-fetch.ts'
import { OutgoingFetchError } from '../../../../../src/server/ports/outgoing-fetch.ts'
import { requirement } from '../../../../support/run/requirements.mjs'
import { startStubIssuer, type StubIssuer } from '../../../../support/sign-in/stub-issuer.ts'

const ANYWHERE = { allowPrivateNetwork: true } as const
const PUBLIC = { allowPrivateNetwork: false } as const

let server: StubIssuer
beforeEach(async () => {
  server = await startStubIssuer()
})
afterEach(() => server.stop())

/** What a fetch failed with, as `reason: message`. */
async function failure(asked: Promise<unknown>): Promise<string> {
  const error: unknown = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(OutgoingFetchError)
  const { reason, message } = error as OutgoingFetchError
  return `${reason}: ${message}`
}

describe('an outgoing fetch', () => {
  const fetch = createOutgoingFetch()

  it('brings back status, headers in lower case and the whole body, from a private address that is allowed', async () => {
    server.on('/a', { ok: true })
    const answer = await fetch(`${server.url}/a?b=c`, ANYWHERE)
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json')
    expect(answer.body.toString()).toBe('{"ok":true}')
  })

  it('sends method, headers and body, and asks for a body that is not compressed', async () => {
    let seen: unknown
    server.on('/token', async (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = []
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
      seen = { method: request.method, headers: request.headers, body: Buffer.concat(chunks).toString() }
      response.end('{}')
    })
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    await fetch(`${server.url}/token`, { ...ANYWHERE, method: 'POST', headers, body: 'a=b' })
    expect(seen).toMatchObject({
      method: 'POST',
      body: 'a=b',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'accept-encoding': 'identity' },
    })
  })

  it('leaves no connection behind', async () => {
    server.on('/a', {})
    await fetch(`${server.url}/a`, ANYWHERE)
    await fetch(`${server.url}/a`, ANYWHERE)
    expect(server.connections()).toBe(2)
  })

  it.each([301, 302, 303, 307, 308, 304])('refuses a redirect (%i)', async (status) => {
    server.on('/a', (_request: unknown, response: ServerResponse) => {
      response.writeHead(status, { location: `${server.url}/b` })
      response.end()
    })
    expect(await failure(fetch(`${server.url}/a`, ANYWHERE))).toMatch(/^redirect: /)
    expect(server.asked).toEqual(['/a'])
  })

  it('hands back a redirect, unfollowed, to who wants to read it', async () => {
    server.on('/a', (_request: unknown, response: ServerResponse) => {
      response.writeHead(302, { location: 'https://elsewhere.example/' })
      response.end()
    })
    const answer = await fetch(`${server.url}/a`, { ...ANYWHERE, redirect: 'returned' })
    expect([answer.status, answer.headers['location']]).toEqual([302, 'https://elsewhere.example/'])
  })

  it('takes a body of 1 MiB and refuses one byte more, said beforehand or not', async () => {
    const body = (bytes: number, said: boolean) => (_request: unknown, response: ServerResponse) => {
      if (said) response.setHeader('content-length', bytes)
      response.end(Buffer.alloc(bytes, 32))
    }
    server.on('/fits', body(1_048_576, true))
    server.on('/said', body(1_048_577, true))
    server.on('/unsaid', (_request: unknown, response: ServerResponse) => {
      response.write(Buffer.alloc(1_048_576, 32))
      response.end(' ')
    })
    expect((await fetch(`${server.url}/fits`, ANYWHERE)).body.length).toBe(1_048_576)
    expect(await failure(fetch(`${server.url}/said`, ANYWHERE))).toMatch(/^too_large: /)
    expect(await failure(fetch(`${server.url}/unsaid`, ANYWHERE))).toMatch(/^too_large: /)
  })

  it('stops reading an endless body at the size that was asked for', async () => {
    server.on('/endless', (_request: unknown, response: ServerResponse) => {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 32)));
        response.once('drain', more)
      }
      more()
    })
    const small = { ...ANYWHERE, bodyBytesMax: 1000 }
    expect(await failure(fetch(`${server.url}/endless`, small))).toBe('too_large: the answer is longer than 1000 bytes')
  })

  it('refuses headers beyond 16 KiB', async () => {
    server.on('/a', (_request: unknown, response: ServerResponse) => {
      response.setHeader('x-long', 'x'.repeat(17_000))
      response.end()
    })
    expect(await failure(fetch(`${server.url}/a`, ANYWHERE))).toMatch(/^unreachable: /)
  })

  it('says that nothing listens, and keeps what the system said as the cause', async () => {
    const { port } = server
    await server.stop()
    expect(await failure(fetch(`http://127.0.0.1:${port}/`, ANYWHERE))).toBe(
      `unreachable: 127.0.0.1:${port} cannot be asked: ECONNREFUSED`,
    )
    server = await startStubIssuer()
  })

  it('has the status and the beginning of a body that breaks off, where that is enough', async () => {
    server.on('/broken', (_request: unknown, response: ServerResponse) => {
      response.writeHead(500, { 'content-length': '10' })
      response.write('begun', () => response.socket?.end())
    })
    const answer = await fetch(`${server.url}/broken`, { ...ANYWHERE, excess: 'cut' })
    expect([answer.status, answer.body.toString()]).toEqual([500, 'begun'])
    expect(await failure(fetch(`${server.url}/broken`, ANYWHERE))).toMatch(/^unreachable: /)
  })

  it('ends when the caller gives up', async () => {
    const giveUp = new AbortController()
    server.on('/silent', () => giveUp.abort())
    const asked = fetch(`${server.url}/silent`, { ...ANYWHERE, signal: giveUp.signal })
    expect(await failure(asked)).toBe('unreachable: the request was given up')
    expect(await failure(fetch(`${server.url}/silent`, { ...ANYWHERE, signal: AbortSignal.abort() }))).toBe(
      'unreachable: the request was given up',
    )
  })
})

describe('an outgoing fetch has one deadline for everything', () => {
  const fetch = createOutgoingFetch({ deadlineMs: 150 })

  it('for an answer that does not begin', async () => {
    server.on('/silent', () => undefined)
    expect(await failure(fetch(`${server.url}/silent`, ANYWHERE))).toMatch(/^timeout: /)
  })

  it('for a body that comes byte by byte', async () => {
    server.on('/slow', (_request: unknown, response: ServerResponse) => {
      const drip = setInterval(() => response.write(' '), 10)
      response.on('close', () => clearInterval(drip))
    })
    expect(await failure(fetch(`${server.url}/slow`, ANYWHERE))).toMatch(/^timeout: /)
  })

  it('after which the status and the beginning of a body without an end are the answer, where that is enough', async () => {
    server.on('/endless', (_request: unknown, response: ServerResponse) => response.write('begun'))
    const patient = createOutgoingFetch({ deadlineMs: 1_500 })
    const answer = await patient(`${server.url}/endless`, { ...ANYWHERE, excess: 'cut' })
    expect([answer.status, answer.body.toString()]).toEqual([200, 'begun'])
  })

  it('for a name that does not resolve', async () => {
    const stuck = createOutgoingFetch({ deadlineMs: 150, resolve: () => new Promise(() => undefined) })
    expect(await failure(stuck('https://idp.example/', PUBLIC))).toMatch(/^timeout: /)
  })
})

describe('an outgoing fetch that may reach public addresses alone', () => {
  const fetch = createOutgoingFetch()
  const https = (host: string): string => `https://${host}:${server.port}/`

  it.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '0.0.0.0',
    '0',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '169.254.169.254',
    '[fd00::1]',
    'localhost',
    'LOCALHOST',
  ])('does not connect to %s', async (host) => {
    expect(await failure(fetch(https(host), PUBLIC))).toMatch(/^forbidden_address: \S+ is not at a public address$/)
    expect(server.connections()).toBe(0)
  })

  it('does not connect where a name resolves to private addresses, and does not say which', async () => {
    const resolve = async () => [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]
    const guarded = createOutgoingFetch({ resolve })
    const url = `https://idp.example:${server.port}/`
    expect(await failure(guarded(url, PUBLIC))).toBe(`forbidden_address: idp.example is not at a public address`)
    expect(server.connections()).toBe(0)
  })

  it('resolves a name anew for each request, so that what another may reach helps nobody (DNS rebinding)', async () => {
    let times = 0
    const resolve = async () => {
      times += 1
      return [{ address: '127.0.0.1', family: 4 }]
    }
    const guarded = createOutgoingFetch({ resolve })
    server.on('/a', {})
    expect((await guarded(`http://rebind.example:${server.port}/a`, ANYWHERE)).status).toBe(200)
    expect(await failure(guarded(`https://rebind.example:${server.port}/a`, PUBLIC))).toMatch(/^forbidden_address: /)
    expect([times, server.connections()]).toEqual([2, 1])
  })

  it('resolves names that must be at public addresses by their own resolver, and others as the system does', async () => {
    const asked: string[] = []
    const publicNames = async (name: string) => {
      asked.push(name)
      return [{ address: '127.0.0.1', family: 4 }]
    }
    const guarded = createOutgoingFetch({ publicNames })
    server.on('/a', {})
    expect(await failure(guarded(`https://hooks.example:${server.port}/a`, PUBLIC))).toMatch(/^forbidden_address: /)
    // Of the system: /etc/hosts has it.
    expect((await guarded(`http://localhost:${server.port}/a`, ANYWHERE)).status).toBe(200)
    expect(asked).toEqual(['hooks.example'])
  })

  it('refuses plain HTTP, other schemes and URLs with a password, before anything is resolved', async () => {
    expect(await failure(fetch('http://idp.example/', PUBLIC))).toMatch(/^forbidden_address: .*without TLS$/)
    for (const url of ['file:///etc/passwd', 'ftp://idp.example/', 'data:,x', 'gopher://x', '//x', 'nonsense']) {
      expect(await failure(fetch(url, ANYWHERE))).toMatch(/^forbidden_address: only http/)
    }
    expect(await failure(fetch('https://root:hunter2@idp.example/', PUBLIC))).toBe(
      'forbidden_address: the URL at idp.example carries a user name or password',
    )
  })

  it('does not use a proxy of the environment', async () => {
    vi.stubEnv('HTTPS_PROXY', server.url)
    vi.stubEnv('HTTP_PROXY', server.url)
    expect(await failure(fetch('https://127.0.0.1:1/', PUBLIC))).toMatch(/^forbidden_address: /)
    expect(server.connections()).toBe(0)
    vi.unstubAllEnvs()
  })
})

describe.skipIf(requirement('openssl') === undefined)('an outgoing fetch verifies TLS', () => {
  it('also where an environment variable says not to', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ctl-fetch-'))
    const at = (name: string): string => join(folder, name)
    const request = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '1',
    ]
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    execFileSync('openssl', [...request, ...names, '-keyout', at('key'), '-out', at('cert')], { stdio: 'pipe' })
    const tls = createServer({ key: readFileSync(at('key')), cert: readFileSync(at('cert')) }, (_request, response) => {
      response.end('{}')
    })
    await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve))
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const { port } = tls.address() as AddressInfo
    expect(await failure(createOutgoingFetch()(`https://127.0.0.1:${port}/`, ANYWHERE))).toBe(
      `unreachable: 127.0.0.1:${port} cannot be asked: DEPTH_ZERO_SELF_SIGNED_CERT`,
    )
    vi.unstubAllEnvs()
    tls.close()
    rmSync(folder, { recursive: true })
  })
})
