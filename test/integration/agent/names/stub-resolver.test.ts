import { execFile } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { promisify } from 'node:util'
import { decode, encode } from 'dns-packet'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createNameTable, type NameTable } from '../../../../src/cli/agent/names/name-table.ts'
import { openStubResolver, type StubResolver } from '../../../../src/cli/agent/names/stub-resolver.ts'
import { requirement } from '../../../support/run/requirements.mjs'

const dig = requirement('dig')

let table: NameTable
let log: string[]
let stub: StubResolver

const open = (options: { addresses?: readonly string[]; port?: number } = {}) =>
  openStubResolver({
    addresses: ['127.0.0.153'],
    port: 0,
    table: () => table,
    log: (line) => log.push(line),
    ...options,
  })

beforeEach(async () => {
  log = []
  table = createNameTable([
    { name: 'web-1', address: '100.64.0.1' },
    { name: 'web-2', address: '100.64.0.2' },
  ])
  stub = await open()
})

afterEach(async () => {
  await stub.close()
  expect(log).toEqual([])
})

function resolver(): Resolver {
  const one = new Resolver({ timeout: 2_000, tries: 1 })
  one.setServers([`${stub.address}:${stub.port}`])
  return one
}

describe('a resolver library', () => {
  test('finds the address of a node and the name of an address', async () => {
    expect(await resolver().resolve4('web-2.mesh', { ttl: true })).toEqual([{ address: '100.64.0.2', ttl: 5 }])
    expect(await resolver().reverse('100.64.0.1')).toEqual(['web-1.mesh'])
  })

  test('learns that a name does not exist, has no IPv6 address, or is none of the mesh', async () => {
    await expect(resolver().resolve4('nope.mesh')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    await expect(resolver().resolve6('web-1.mesh')).rejects.toMatchObject({ code: 'ENODATA' })
    await expect(resolver().resolve4('example.com')).rejects.toMatchObject({ code: 'EREFUSED' })
  })

  test('receives the names of now', async () => {
    table = createNameTable([{ name: 'web-3', address: '100.64.0.3' }])
    expect(await resolver().resolve4('web-3.mesh')).toEqual(['100.64.0.3'])
    await expect(resolver().resolve4('web-1.mesh')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })

  test('asks again over TCP for an answer that is too large for UDP', async () => {
    table = createNameTable(Array.from({ length: 200 }, (_, n) => ({ name: `node-${n}`, address: '100.64.0.7' })))
    const names = await resolver().resolvePtr('7.0.64.100.in-addr.arpa')
    expect(names).toHaveLength(200)
    expect(names).toContain('node-199.mesh')
  })
})

describe.skipIf(dig === undefined)('dig', () => {
  const ask = async (...args: readonly string[]) => {
    const server = [`@${stub.address}`, '-p', `${stub.port}`, '+time=2', '+tries=1']
    return (await promisify(execFile)(dig ?? '', [...server, ...args])).stdout
  }

  test('prints the address, with the name in the case of the question', async () => {
    expect(await ask('WeB-1.mesh')).toMatch(/\nWeB-1\.mesh\.\s+5\s+IN\s+A\s+100\.64\.0\.1\n/)
  })

  test.each([['+tcp'], ['+noedns'], ['+dnssec'], ['+nocookie'], ['+subnet=192.0.2.0/24'], ['+padding=128'], ['+nsid']])(
    'is answered with %s, without a warning of a malformed message',
    async (option) => {
      const text = await ask('web-2.mesh', option)
      expect(text).toContain('100.64.0.2')
      expect(text).toContain('status: NOERROR')
      expect(text).not.toMatch(/malformed|Warning: Message parser/)
    },
  )

  test.each([
    ['nope.mesh', 'NXDOMAIN'],
    ['example.com', 'REFUSED'],
  ])('prints of %s that it is %s', async (name, status) => {
    expect(await ask(name)).toContain(`status: ${status}`)
  })

  test('prints BADVERS for a later version of EDNS', async () => {
    expect(await ask('web-1.mesh', '+edns=1', '+noednsneg')).toContain('status: BADVERS')
  })

  test('prints NOTIMP for another opcode', async () => {
    expect(await ask('web-1.mesh', '+opcode=notify')).toContain('status: NOTIMP')
  })
})

const query = (name: string) => encode({ type: 'query', id: 7, questions: [{ name, type: 'A' }] })

function framed(message: Uint8Array, length = message.byteLength): Buffer {
  const head = Buffer.alloc(2)
  head.writeUInt16BE(length)
  return Buffer.concat([head, message])
}

describe('UDP', () => {
  test('answers bytes that are no query without an end of the resolver', async () => {
    const socket = createSocket('udp4')
    onTestFinished(() => void socket.close())
    const answered = once(socket, 'message')
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(11), Buffer.alloc(1400, 0xff), query('web-1.mesh')])
      socket.send(bytes, stub.port, stub.address)
    const [answer] = (await answered) as [Buffer]
    expect(decode(answer).answers).toMatchObject([{ data: '100.64.0.1' }])
  })
})

describe('TCP', () => {
  async function connected(): Promise<Socket> {
    const socket = connect(stub.port, stub.address)
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    return socket
  }

  /** Answers until there are `count`. */
  async function answersOf(socket: Socket, count: number): Promise<readonly Buffer[]> {
    let bytes: Buffer = Buffer.alloc(0)
    const answers: Buffer[] = []
    for await (const chunk of socket) {
      bytes = Buffer.concat([bytes, chunk as Buffer])
      while (bytes.byteLength >= 2 && bytes.byteLength >= 2 + bytes.readUInt16BE(0)) {
        answers.push(bytes.subarray(2, 2 + bytes.readUInt16BE(0)))
        bytes = bytes.subarray(2 + bytes.readUInt16BE(0))
      }
      if (answers.length >= count) return answers
    }
    throw new Error(`the connection ended after ${answers.length} answers`)
  }

  test('answers several queries of a connection, in whatever pieces they arrive', async () => {
    const socket = await connected()
    socket.setNoDelay(true)
    const bytes = Buffer.concat([framed(query('web-1.mesh')), framed(query('web-2.mesh')), framed(query('nope.mesh'))])
    for (const byte of bytes) {
      socket.write(Buffer.from([byte]))
      await new Promise(setImmediate)
    }
    const answers = await answersOf(socket, 3)
    expect(answers.map((answer) => decode(answer).answers?.map((one) => 'data' in one && one.data))).toEqual([
      ['100.64.0.1'],
      ['100.64.0.2'],
      [],
    ])
  })

  test('ends a connection that announces more than a query can have', async () => {
    const socket = await connected()
    const closed = once(socket, 'close')
    socket.write(framed(Buffer.alloc(0), 4_097))
    await closed
  })

  test('ends a connection that sends nothing for five seconds', async () => {
    const socket = await connected()
    const startedAt = performance.now()
    socket.write(framed(Buffer.alloc(1), 100))
    await once(socket.resume(), 'close')
    expect(performance.now() - startedAt).toBeGreaterThan(4_500)
    // Far from the 30 s after which each connection ends.
    expect(performance.now() - startedAt).toBeLessThan(20_000)
  })

  test('ends a connection that does not read its answers, and serves others meanwhile', async () => {
    table = createNameTable(Array.from({ length: 1_000 }, (_, n) => ({ name: `node-${n}`, address: '100.64.0.7' })))
    const ptr = framed(encode({ type: 'query', id: 7, questions: [{ name: '7.0.64.100.in-addr.arpa', type: 'PTR' }] }))
    const socket = await connected()
    socket.pause()
    socket.on('error', () => undefined)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    while (!socket.destroyed && socket.writableLength < 1_000_000) {
      socket.write(ptr)
      await new Promise(setImmediate)
    }
    socket.resume()
    await closed
    expect(await resolver().resolve4('node-3.mesh')).toEqual(['100.64.0.7'])
  })

  test('has 32 connections at most; others are ended, and a free place is taken again', async () => {
    const first = await Promise.all(Array.from({ length: 32 }, connected))
    const more = await connected()
    await once(more.resume(), 'close')
    const [one] = first
    if (one === undefined) throw new Error('no connection')
    one.write(framed(query('web-1.mesh')))
    expect(await answersOf(one, 1)).toHaveLength(1)
    one.destroy()
    await expect
      .poll(
        async () => {
          const next = await connected()
          next.write(framed(query('web-2.mesh')))
          return answersOf(next, 1).then(
            (answers) => answers.length,
            () => 0,
          )
        },
        { timeout: 10_000 },
      )
      .toBe(1)
  })
})

describe('the address', () => {
  test('is the next one where UDP of the first is taken', async () => {
    const second = await open({ addresses: ['127.0.0.153', '127.0.0.154'], port: stub.port })
    onTestFinished(() => second.close())
    expect(second).toMatchObject({ address: '127.0.0.154', port: stub.port })
  })

  test('is the next one where only TCP of the first is taken, and the UDP port of it is free again', async () => {
    const other = createServer().listen(0, '127.0.0.155')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const { port } = other.address() as { port: number }
    const second = await open({ addresses: ['127.0.0.155', '127.0.0.156'], port })
    onTestFinished(() => second.close())
    expect(second).toMatchObject({ address: '127.0.0.156', port })
    const udp = createSocket('udp4')
    onTestFinished(() => void udp.close())
    udp.bind(port, '127.0.0.155')
    await once(udp, 'listening')
  })

  test('is none where each is taken, which names the way out', async () => {
    await expect(open({ port: stub.port })).rejects.toMatchObject({
      code: 'resolver_not_listening',
      exitCode: 6,
      message: `Port ${stub.port} is in use on 127.0.0.153 and the addresses after it.`,
      hints: ['Another resolver of this machine has it: see which with ss -lup, or use --hosts.'],
    })
  })

  test('that is none of this machine is an error', async () => {
    await expect(open({ addresses: ['192.0.2.1'] })).rejects.toMatchObject({
      code: 'resolver_not_listening',
      exitCode: 1,
    })
  })

  test('is free again after the end, with connections open', async () => {
    const socket = connect(stub.port, stub.address)
    await once(socket, 'connect')
    const closed = once(socket.resume(), 'close')
    await stub.close()
    await closed
    const again = await open({ port: stub.port })
    onTestFinished(() => again.close())
    expect(again.address).toBe('127.0.0.153')
    stub = await open()
  })
})
