import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createRelayPart, type RelayPart } from '../../../../../../src/cli/agent/bridges/relay/relay-part.ts'
import { initiation } from '../../../../../support/mesh/handshake-messages.ts'

const KEY = Buffer.alloc(32, 1).toString('base64')

describe('the relays of a machine', () => {
  let part: RelayPart
  let peer: Socket
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
    const endpoints = [`127.0.0.1:${peer.address().port}`]
    part = createRelayPart({
      peers: async () => [{ nodeId: 'x', publicKey: KEY, endpoints, fallback: undefined }],
      log: (line) => void lines.push(line),
      now: () => Date.now(),
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
})
