import { createSocket, Socket } from 'node:dgram'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createRelayPart, type RelayPart } from '../../../../../../src/cli/agent/bridges/relay/relay-part.ts'
import { initiation } from '../../../../../support/mesh/handshake-messages.ts'

const [KEY, UNREACHABLE_KEY] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [string, string]
/** A socket without SO_BROADCAST must not send there. */
const UNREACHABLE = ['255.255.255.255:1', '255.255.255.255:2']

describe('the relays of a machine', () => {
  let part: RelayPart
  let peer: Socket
  let key: string
  let clock: () => number
  /** Milliseconds that a read of the peers takes, by the clock of the relays. */
  let readingMs: number
  let readAtMs: number[]
  const lines: string[] = []

  async function socket(): Promise<Socket> {
    const made = createSocket('udp4')
    made.bind(0, '127.0.0.1')
    await once(made, 'listening')
    return made
  }

  /** A port that nothing had a moment ago. */
  async function freePort(): Promise<number> {
    const made = await socket()
    const { port } = made.address()
    await new Promise<void>((resolve) => made.close(() => resolve()))
    return port
  }

  beforeEach(async () => {
    peer = await socket()
    key = KEY
    clock = () => Date.now()
    readingMs = 0
    readAtMs = []
    let readMs = 0
    const endpoints = [`127.0.0.1:${peer.address().port}`]
    part = createRelayPart({
      async peers() {
        readMs += readingMs
        readAtMs.push(performance.now())
        return [
          { nodeId: 'x', publicKey: key, endpoints, fallback: undefined },
          { nodeId: 'y', publicKey: UNREACHABLE_KEY, endpoints: UNREACHABLE, fallback: undefined },
        ]
      },
      log: (line) => void lines.push(line),
      now: () => clock() + readMs,
    })
  })
  afterEach(async () => {
    await part.close('keep')
    await new Promise<void>((resolve) => peer.close(() => resolve()))
  })

  const relayOn = (port: number) => ({ enabled: true, listen_port: port, assignments: [] })

  test('forward from their own port, as the NAT of the addressee expects', async () => {
    const port = await freePort()
    expect(await part.apply('b', relayOn(port))).toBeUndefined()
    const sender = await socket()
    const packet = initiation({ to: KEY, sender: 7 })
    const arrived = once(peer, 'message')
    sender.send(packet, port, '127.0.0.1')
    const [received, { port: from }] = (await arrived) as [Buffer, { readonly port: number }]
    expect([received.equals(packet), from]).toEqual([true, port])
    sender.close()
  })

  test('forward what was sent to a new key of a peer before they knew it, as soon as they do', async () => {
    const port = await freePort()
    await part.apply('b', relayOn(port))
    const sender = await socket()
    const rotated = Buffer.alloc(32, 9).toString('base64')
    // What waits is held for 3 s, which a slow machine may need until the key is changed below.
    const nowMs = Date.now()
    clock = () => nowMs
    const arrived = once(peer, 'message')
    sender.send(initiation({ to: rotated, sender: 6 }), port, '127.0.0.1')
    // What follows on the same socket has arrived: so has the one before.
    sender.send(initiation({ to: KEY, sender: 7 }), port, '127.0.0.1')
    expect(((await arrived) as [Buffer])[0].readUInt32LE(4)).toBe(7)
    const again = once(peer, 'message')
    key = rotated
    expect(((await again) as [Buffer])[0].readUInt32LE(4)).toBe(6)
    sender.close()
  })

  test('read the peers less often for unknown keys where that takes long, since anyone can send these', async () => {
    const port = await freePort()
    readingMs = 500
    await part.apply('b', relayOn(port))
    const sender = await socket()
    sender.send(initiation({ to: Buffer.alloc(32, 9).toString('base64'), sender: 6 }), port, '127.0.0.1')
    await vi.waitFor(() => expect(readAtMs.length).toBeGreaterThan(1), { timeout: 20_000, interval: 20 })
    // Without the limit: 300 ms.
    const [firstMs = 0, secondMs = 0] = readAtMs
    expect(secondMs - firstMs).toBeGreaterThan(1_500)
    sender.close()
  })

  test('give their port back when they are disabled, when the bridge goes, and at the end', async () => {
    const port = await freePort()
    const other = await freePort()
    await part.apply('b', relayOn(port))
    expect([...part.ports()]).toEqual([port])
    await part.apply('b', { ...relayOn(port), enabled: false })
    expect([...part.ports()]).toEqual([])
    await part.apply('b', relayOn(port))
    await part.apply('b', relayOn(other))
    expect([...part.ports()]).toEqual([other])
    await part.keepOnly(new Set())
    expect([...part.ports()]).toEqual([])
    await part.apply('b', relayOn(other))
    await part.close('remove')
    expect(await part.apply('b', relayOn(other))).toBeUndefined()
  })

  test('name a port that is in use, and go on with the former one', async () => {
    const taken = createSocket('udp4')
    taken.bind(0)
    await once(taken, 'listening')
    const port = await freePort()
    await part.apply('b', relayOn(port))
    expect(await part.apply('b', relayOn(taken.address().port))).toContain('is in use on this machine')
    expect([...part.ports()]).toEqual([port])
    expect(part.faults()).toEqual([])
    taken.close()
  })

  test('keep no descriptor of a port that they could not have', async () => {
    const taken = createSocket('udp4')
    taken.bind(0)
    await once(taken, 'listening')
    const count = (): number => readdirSync('/proc/self/fd').length
    const before = count()
    for (let tries = 0; tries < 50; tries += 1) await part.apply('b', relayOn(taken.address().port))
    expect(count() - before).toBeLessThan(40)
    taken.close()
  })

  test('lose packets while more of them wait than the link takes, and go on afterwards', async () => {
    const port = await freePort()
    await part.apply('b', relayOn(port))
    const sender = await socket()
    const seen: number[] = []
    peer.on('message', (packet: Buffer) => void seen.push(packet.readUInt32LE(4)))
    const waiting = vi.spyOn(Socket.prototype, 'getSendQueueSize').mockReturnValue(1e9)
    sender.send(initiation({ to: KEY, sender: 1 }), port, '127.0.0.1')
    await vi.waitFor(() => expect(waiting).toHaveBeenCalled(), { timeout: 10_000 })
    waiting.mockRestore()
    sender.send(initiation({ to: KEY, sender: 2 }), port, '127.0.0.1')
    await vi.waitFor(() => expect(seen).toContain(2), { timeout: 10_000 })
    expect(seen).toEqual([2])
    sender.close()
  })

  test('name that packets cannot be sent, once for all of them and without the addresses', async () => {
    const port = await freePort()
    await part.apply('b', relayOn(port))
    const sender = await socket()
    const arrived = once(peer, 'message')
    for (const to of [UNREACHABLE_KEY, UNREACHABLE_KEY, KEY])
      sender.send(initiation({ to, sender: 7 }), port, '127.0.0.1')
    await arrived
    await vi.waitFor(() => expect(part.faults()).toHaveLength(1), { timeout: 10_000 })
    expect(part.faults()[0]).toMatch(/^the relay of bridge b: some packets cannot be sent in IPv4: E[A-Z]+$/)
    expect(lines.filter((line) => line.includes('cannot be sent'))).toHaveLength(1)
    sender.close()
  })
})
