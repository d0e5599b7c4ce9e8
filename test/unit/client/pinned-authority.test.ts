import { once } from 'node:events'
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { X509Certificate } from 'node:crypto'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { fetchPinnedAuthority } from '../../../src/client/pinned-authority.ts'
import { pinnedDigest } from '../../../src/client/pinned-digest.ts'
import { makeAuthority, makeLeaf, type PemPair } from '../../../src/server/adapters/own-authority/certificates.ts'

const DAY_MS = 86_400_000
const closing: (() => void)[] = []
afterEach(() => closing.splice(0).forEach((close) => close()))

let authority: PemPair
let other: PemPair
let leaf: PemPair
beforeAll(async () => {
  ;[authority, other] = [await makeAuthority(Date.now()), await makeAuthority(Date.now())]
  leaf = await leafOf(authority)
})

function leafOf(signer: PemPair, names = ['127.0.0.1'], nowMs = Date.now()): Promise<PemPair> {
  return makeLeaf({ authority: signer, names, nowMs, endMsMax: Date.now() + 1_000 * DAY_MS })
}

const digestOf = ({ cert }: PemPair): string =>
  new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase()

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => server.close())
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that shows this chain, and counts the bytes that it is sent after the handshake. */
async function show(pair: PemPair, ...issuers: PemPair[]): Promise<{ url: string; received: () => number }> {
  let received = 0
  const cert = [pair, ...issuers].map((one) => one.cert).join('')
  const server = createTlsServer({ cert, key: pair.key }, (socket) => {
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length
    })
    socket.on('error', () => undefined)
  })
  return { url: await listen(server), received: () => received }
}

describe('an authority that is named by its digest', () => {
  it('is taken from the chain that the server shows, over which nothing is sent', async () => {
    const { url, received } = await show(leaf, authority)
    expect(await fetchPinnedAuthority({ url, sha256: digestOf(authority) })).toBe(authority.cert)
    expect(received()).toBe(0)
  })

  it('is refused when the server shows another one, whose digest the error names', async () => {
    const { url, received } = await show(leaf, authority)
    await expect(fetchPinnedAuthority({ url, sha256: digestOf(other) })).rejects.toMatchObject({
      fault: 'untrusted',
      message: `it shows a certificate authority with the SHA-256 ${digestOf(authority)}, not ${digestOf(other)}; nothing was sent to it`,
      advice:
        'Compare the SHA-256 with the one that "ctl serve" printed on the server; where they differ, another machine may answer there.',
    })
    expect(received()).toBe(0)
  })

  it('is refused when the chain only shows it and another one has signed', async () => {
    const { url } = await show(await leafOf(other), authority)
    await expect(fetchPinnedAuthority({ url, sha256: digestOf(authority) })).rejects.toMatchObject({
      fault: 'untrusted',
    })
  })

  it('is refused when one of the same name and key id has signed', async () => {
    // What somebody can make who knows the authority's certificate, which is public, and not its key.
    const forged = { cert: authority.cert, key: other.key }
    const { url } = await show(await leafOf(forged), authority)
    await expect(fetchPinnedAuthority({ url, sha256: digestOf(authority) })).rejects.toMatchObject({
      message: 'its certificate is not signed by the authority with that SHA-256; nothing was sent to it',
    })
  })

  it('is refused when the digest is that of the server certificate', async () => {
    const { url } = await show(leaf, authority)
    await expect(fetchPinnedAuthority({ url, sha256: digestOf(leaf) })).rejects.toMatchObject({
      message: 'the certificate with that SHA-256 is not a certificate authority; nothing was sent to it',
    })
  })

  it('is refused when the server certificate is for another host, with the names that it is for', async () => {
    const { url } = await show(await leafOf(authority, ['192.0.2.1', 'ctl.example']), authority)
    await expect(fetchPinnedAuthority({ url, sha256: digestOf(authority) })).rejects.toMatchObject({
      message: 'its certificate is for 192.0.2.1, ctl.example, not for 127.0.0.1; nothing was sent to it',
      advice: 'Use one of these names in the URL, or let --base-url of "ctl serve" name 127.0.0.1.',
    })
  })

  it.each([-200, 200])(
    'is refused when the server certificate is not valid today: made %i days from now',
    async (days) => {
      const { url } = await show(await leafOf(authority, ['127.0.0.1'], Date.now() + days * DAY_MS), authority)
      await expect(fetchPinnedAuthority({ url, sha256: digestOf(authority) })).rejects.toMatchObject({
        message: 'its certificate is not valid at this time; nothing was sent to it',
        advice: 'Look at the clocks of both machines.',
      })
    },
  )

  it('is looked for by name too', async () => {
    const { url } = await show(await leafOf(authority, ['localhost']), authority)
    const byName = url.replace('127.0.0.1', 'localhost')
    expect(await fetchPinnedAuthority({ url: byName, sha256: digestOf(authority) })).toBe(authority.cert)
  })
})

describe('a server that makes no handshake', () => {
  const sha256 = 'a'.repeat(64)

  it('is named as one that does not speak TLS', async () => {
    const url = await listen(createTcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')))
    await expect(fetchPinnedAuthority({ url, sha256 })).rejects.toMatchObject({ fault: 'unreadable' })
  })

  it('is given up at the deadline', async () => {
    const url = await listen(createTcpServer((socket) => closing.push(() => socket.destroy())))
    await expect(fetchPinnedAuthority({ url, sha256, timeoutMs: 30 })).rejects.toMatchObject({
      fault: 'timeout',
      message: 'no TLS handshake within 30 ms',
    })
  })

  it('is given up when the caller is interrupted, before and during it', async () => {
    const interruption = new AbortController()
    const url = await listen(
      createTcpServer((socket) => {
        closing.push(() => socket.destroy())
        interruption.abort()
      }),
    )
    const order = { url, sha256, signal: interruption.signal }
    await expect(fetchPinnedAuthority(order)).rejects.toMatchObject({ fault: 'aborted' })
    await expect(fetchPinnedAuthority(order)).rejects.toMatchObject({ fault: 'aborted' })
  })

  it('is unreachable where nothing listens, and broken where the connection ends', async () => {
    const closed = createTcpServer((socket) => socket.destroy())
    const url = await listen(closed)
    await expect(fetchPinnedAuthority({ url, sha256 })).rejects.toMatchObject({ fault: 'broken' })
    closed.close()
    await once(closed, 'close')
    await expect(fetchPinnedAuthority({ url, sha256 })).rejects.toMatchObject({ fault: 'unreachable' })
  })

  it('has no https: URL', async () => {
    await expect(fetchPinnedAuthority({ url: 'http://127.0.0.1', sha256 })).rejects.toThrow(TypeError)
  })
})

it.each([
  ['ab'.repeat(32), 'ab'.repeat(32)],
  ['AB'.repeat(32), 'ab'.repeat(32)],
  [Array.from({ length: 32 }, () => 'AB').join(':'), 'ab'.repeat(32)],
  ['ab'.repeat(31), undefined],
  ['zz'.repeat(32), undefined],
  ['', undefined],
])('the digest of %j is %j', (text, digest) => {
  expect(pinnedDigest(text)).toBe(digest)
})
