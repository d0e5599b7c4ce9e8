import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { createDnsNames } from '../../../../../src/server/adapters/outgoing-fetch/dns-names.ts'

const TYPE_A = 1

/** A name server on loopback, as `host:port`. It answers what `answering` returns; nothing where that is undefined. */
async function nameServer(answering: (query: Buffer) => Buffer | undefined): Promise<string> {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const answer = answering(query)
    if (answer !== undefined) socket.send(answer, port, address)
  })
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

test('names have the addresses that a name server answers, of one family too', async () => {
  const resolve = createDnsNames({ servers: [await nameServer(answered)] })
  expect(await resolve('hooks.acme.example')).toEqual([{ address: '192.0.2.7', family: 4 }])
})

test('a silent name server fails the name alone, and holds up no other lookup of the process', async () => {
  const resolve = createDnsNames({ timeoutMs: 2_000, servers: [await nameServer(() => undefined)] })
  const ended: number[] = []
  const asked = Array.from({ length: 64 }, (_, index) =>
    resolve(`${index}.acme.example`).catch((error: unknown) => {
      ended.push(index)
      return error
    }),
  )
  await lookup('localhost')
  expect(ended).toEqual([])
  for (const error of await Promise.all(asked)) expect(error).toMatchObject({ code: 'ETIMEOUT' })
}, 30_000)
