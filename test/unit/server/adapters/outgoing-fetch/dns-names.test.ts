import { createSocket, type RemoteInfo } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createDnsNames } from '../../../../../src/server/adapters/outgoing-fetch/dns-names.ts'

const TYPE_A = 1

type Send = (answer: Buffer) => void

/** A name server on loopback, as `host:port`. */
async function nameServer(onQuery: (query: Buffer, send: Send) => void): Promise<string> {
  const socket = createSocket('udp4')
  socket.on('message', (query: Buffer, { port, address }: RemoteInfo) =>
    onQuery(query, (answer) => socket.send(answer, port, address)),
  )
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  return `127.0.0.1:${socket.address().port}`
}

/** The answer 192.0.2.7 to a question for an address of IPv4, and no answer to others (RFC 1035 §4.1). */
function answered(query: Buffer): Buffer {
  let end = 12
  while ((query[end] ?? 0) > 0) end += (query[end] ?? 0) + 1
  const question = query.subarray(12, end + 5)
  const isForIpv4 = query.readUInt16BE(end + 1) === TYPE_A
  const head = Buffer.from([0x81, 0x80, 0, 1, 0, isForIpv4 ? 1 : 0, 0, 0, 0, 0])
  const record = Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7])
  return Buffer.concat([query.subarray(0, 2), head, question, ...(isForIpv4 ? [record] : [])])
}

/** The answer that there is no such name (NXDOMAIN). */
function unknown(query: Buffer): Buffer {
  const answer = answered(query)
  answer.set([0x81, 0x83, 0, 1, 0, 0], 2)
  return answer.subarray(0, query.length)
}

const FOUND = [{ address: '192.0.2.7', family: 4 }]

test('names have the addresses that a name server answers, of one family too', async () => {
  const server = await nameServer((query, send) => send(answered(query)))
  expect(await createDnsNames({ servers: [server] })('hooks.acme.example')).toEqual(FOUND)
})

test('a name that does not exist is refused with the code of the name server', async () => {
  const server = await nameServer((query, send) => send(unknown(query)))
  await expect(createDnsNames({ servers: [server] })('hooks.acme.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
})

test('a silent name server fails the name by its timeout', async () => {
  const resolve = createDnsNames({ timeoutMs: 50, servers: [await nameServer(() => undefined)] })
  await expect(resolve('hooks.acme.example')).rejects.toMatchObject({ code: 'ETIMEOUT' })
})

test('names that wait for a slow name server hold up neither each other nor other lookups of the process', async () => {
  const held: (() => void)[] = []
  let isSlow = true
  const server = await nameServer((query, send) => {
    const answer = (): void => send(answered(query))
    if (isSlow) held.push(answer)
    else answer()
  })
  const resolve = createDnsNames({ timeoutMs: 60_000, servers: [server] })
  const waiting = Array.from({ length: 64 }, (_, index) => resolve(`${index}.acme.example`))
  // Each name is asked for twice: for IPv4 and for IPv6.
  await vi.waitFor(() => expect(held).toHaveLength(128), { timeout: 20_000 })
  await lookup('localhost')
  isSlow = false
  expect(await resolve('hooks.acme.example')).toEqual(FOUND)
  for (const answer of held) answer()
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => FOUND))
}, 60_000)
