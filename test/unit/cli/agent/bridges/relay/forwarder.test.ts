import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { createForwarder, type Forwarder } from '../../../../../../src/cli/agent/bridges/relay/forwarder.ts'
import type { RelayPeer } from '../../../../../../src/cli/agent/bridges/relay/relay-peers.ts'
import type { EndpointAddress } from '../../../../../../src/cli/agent/endpoints/endpoint-address.ts'
import { cookie, data, initiation, response } from '../../../../../support/mesh/handshake-messages.ts'

const PORT = 51_821
const keyOf = (byte: number): string => Buffer.alloc(32, byte).toString('base64')
const at = (host: string, port: number): EndpointAddress => ({ host, port })

/** Two nodes behind NATs: the relay sees them at other ports than the server knows. */
const X: RelayPeer = { nodeId: 'x', publicKey: keyOf(1), endpoints: ['198.51.100.1:40001'], fallback: undefined }
const Y: RelayPeer = { nodeId: 'y', publicKey: keyOf(2), endpoints: ['198.51.100.2:40002'], fallback: undefined }
const [AT_X, AT_Y] = [at('198.51.100.1', 61_001), at('198.51.100.2', 61_002)]
const STRANGER = at('192.0.2.66', 6_666)

describe('a forwarder', () => {
  let nowMs = 0
  let forwarder: Forwarder

  beforeEach(() => {
    nowMs = 1_000_000
    forwarder = createForwarder({ port: PORT, assigned: new Set() }, () => nowMs)
    forwarder.setPeers([X, Y])
  })

  /** X and Y have sent a first message each, and X has answered that of Y. */
  function connect(): void {
    forwarder.take(initiation({ to: Y.publicKey, sender: 11 }), AT_X)
    expect(forwarder.take(initiation({ to: X.publicKey, sender: 22 }), AT_Y)).toContainEqual(AT_X)
    expect(forwarder.take(response({ to: Y.publicKey, sender: 33, receiver: 22 }), AT_X)).toEqual([AT_Y])
  }

  /** They have exchanged packets as well, as after each handshake that both ends take. */
  function exchange(): void {
    connect()
    forwarder.take(data(33), AT_Y)
    forwarder.take(data(22), AT_X)
  }

  test('sends a first message to the endpoint of its addressee while nothing else is known', () => {
    expect(forwarder.take(initiation({ to: Y.publicKey, sender: 1 }), AT_X)).toEqual([at('198.51.100.2', 40_002)])
  })

  test('sends it to the address of the same host that has sent a first message as well, and sends answers back', () => {
    connect()
    expect(forwarder.take(data(33), AT_Y)).toEqual([AT_X])
    expect(forwarder.take(data(22, 1_472), AT_X)).toEqual([AT_Y])
  })

  test('passes packets that fill the MTU, which are padded to no multiple of 16 bytes', () => {
    connect()
    expect(forwarder.take(data(22, 1_420 + 32), AT_X)).toEqual([AT_Y])
  })

  test('knows both ends by packets that went both ways, so that their next first message goes to one address', () => {
    exchange()
    expect(forwarder.take(initiation({ to: Y.publicKey, sender: 44 }), AT_X)).toEqual([AT_Y])
    expect(forwarder.take(initiation({ to: X.publicKey, sender: 55 }), AT_Y)).toEqual([AT_X])
  })

  test('passes a cookie to who began the handshake, and to nobody who did not', () => {
    forwarder.take(initiation({ to: Y.publicKey, sender: 11 }), AT_X)
    expect(forwarder.take(cookie(11), at('198.51.100.2', 40_002))).toEqual([AT_X])
    expect(forwarder.take(cookie(11), STRANGER)).toEqual([])
    expect(forwarder.take(cookie(12), at('198.51.100.2', 40_002))).toEqual([])
  })

  test('takes an answer and data only from the two ends of the session', () => {
    connect()
    expect(forwarder.take(response({ to: Y.publicKey, sender: 66, receiver: 22 }), STRANGER)).toEqual([])
    expect(forwarder.take(data(33), STRANGER)).toEqual([])
    expect(forwarder.take(data(22), AT_Y)).toEqual([])
    expect(forwarder.take(data(33), at(AT_Y.host, AT_Y.port + 1))).toEqual([])
  })

  test('takes no answer that is not marked for a peer', () => {
    forwarder.take(initiation({ to: X.publicKey, sender: 22 }), AT_Y)
    const from = at('198.51.100.1', 40_001)
    expect(forwarder.take(response({ to: keyOf(9), sender: 33, receiver: 22 }), from)).toEqual([])
    expect(forwarder.take(response({ to: Y.publicKey, sender: 33, receiver: 22 }), from)).toEqual([AT_Y])
  })

  test('sends a first message to four addresses at most, and in turn to those that may be the peer', () => {
    const neighbours = [61_011, 61_012, 61_013, 61_014].map((port) => at(AT_X.host, port))
    for (const [index, from] of neighbours.entries())
      forwarder.take(initiation({ to: Y.publicKey, sender: index }), from)
    const tried = [1, 2].flatMap((sender) => {
      nowMs += 5_000
      const to = forwarder.take(initiation({ to: X.publicKey, sender: 100 + sender }), AT_Y)
      expect(to.length).toBeLessThanOrEqual(4)
      return to
    })
    const guessed = tried.map(({ port }) => port).filter((port) => port !== 40_001)
    expect(guessed.toSorted()).toEqual([61_011, 61_012, 61_013, 61_014])
  })

  test('doubts an address that leaves two first messages unanswered', () => {
    exchange()
    const moved = at(AT_X.host, 61_999)
    forwarder.take(initiation({ to: Y.publicKey, sender: 77 }), moved)
    const sent = [1, 2, 3].map((sender) => forwarder.take(initiation({ to: X.publicKey, sender: 200 + sender }), AT_Y))
    expect(sent.slice(0, 2)).toEqual([[AT_X], [AT_X]])
    expect(sent[2]).toContainEqual(moved)
  })

  test('keeps the former public key of a peer for three minutes', () => {
    const rotated = { ...Y, publicKey: keyOf(7) }
    forwarder.setPeers([X, rotated])
    const send = (to: string) => forwarder.take(initiation({ to, sender: 1 }), AT_X).length
    expect([send(Y.publicKey), send(rotated.publicKey)]).toEqual([1, 1])
    nowMs += 181_000
    forwarder.setPeers([X, rotated])
    expect([send(Y.publicKey), send(rotated.publicKey)]).toEqual([0, 1])
  })

  test('forgets the keys of a peer that is gone at once', () => {
    forwarder.setPeers([X])
    expect(forwarder.take(initiation({ to: Y.publicKey, sender: 1 }), AT_X)).toEqual([])
  })

  test('forgets a session that is idle for three minutes', () => {
    connect()
    nowMs += 170_000
    expect(forwarder.take(data(33), AT_Y)).toEqual([AT_X])
    nowMs += 181_000
    expect(forwarder.take(data(33), AT_Y)).toEqual([])
    forwarder.sweep()
    expect(forwarder.size).toBe(0)
  })

  test.each([
    ['assigned nodes', { port: PORT, assigned: new Set(['x']) }, [1, 1]],
    ['other nodes where none of them is an end', { port: PORT, assigned: new Set(['z']) }, [0, 0]],
  ] as const)('carries edges of %s', (_, terms, expected) => {
    forwarder.setTerms(terms)
    const sent = [
      forwarder.take(initiation({ to: Y.publicKey, sender: 1 }), AT_X).length,
      forwarder.take(initiation({ to: X.publicKey, sender: 2 }), AT_Y).length,
    ]
    expect(sent.map((count) => Math.min(count, 1))).toEqual(expected)
  })

  test('carries edges of nodes to which the server gives it, though they are not assigned', () => {
    forwarder.setTerms({ port: PORT, assigned: new Set(['z']) })
    forwarder.setPeers([X, { ...Y, fallback: `203.0.113.1:${PORT}` }])
    expect(forwarder.take(initiation({ to: Y.publicKey, sender: 1 }), AT_X)).toHaveLength(1)
  })

  test('sends nothing to the address of a relay, nor back to the sender', () => {
    forwarder.setPeers([X, { ...Y, endpoints: ['203.0.113.5:51821'], fallback: '203.0.113.5:51821' }])
    expect(forwarder.take(initiation({ to: X.publicKey, sender: 1 }), at('198.51.100.1', 40_001))).toEqual([])
    expect(forwarder.take(initiation({ to: Y.publicKey, sender: 1 }), AT_X)).toEqual([])
  })

  test('limits the first messages of one address', () => {
    const sent = Array.from({ length: 1_000 }, (_, sender) =>
      forwarder.take(initiation({ to: Y.publicKey, sender }), STRANGER),
    )
    expect(sent.filter(({ length }) => length > 0).length).toBeLessThanOrEqual(200)
  })

  test('remembers a bounded number of things under a flood of spoofed senders', () => {
    for (let count = 0; count < 40_000; count += 1) {
      const from = at(`10.${count % 251}.${count % 241}.${count % 239}`, 1_024 + (count % 60_000))
      forwarder.take(initiation({ to: Y.publicKey, sender: count }), from)
    }
    // Two lists of addresses, the open handshakes, and the addresses of a peer that were tried.
    expect(forwarder.size).toBeLessThanOrEqual(3 * 16_384 + 256)
  }, 60_000)

  test('forwards no packet that is no message of WireGuard with a known index', () => {
    connect()
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
        expect(forwarder.take(Buffer.from(bytes), AT_Y)).toEqual([])
      }),
    )
    expect(forwarder.take(Buffer.alloc(65_507, 4), AT_Y)).toEqual([])
  })

  test('never sends more than four copies, and only where a peer may be or a session has its end', () => {
    const port = fc.integer({ min: 61_000, max: 61_004 })
    const from = fc
      .tuple(fc.constantFrom(AT_X.host, AT_Y.host, STRANGER.host), port)
      .map(([host, each]) => at(host, each))
    const index = fc.integer({ min: 0, max: 3 })
    const to = fc.constantFrom(X.publicKey, Y.publicKey)
    const packet = fc.oneof(
      fc.record({ to, sender: index }).map(initiation),
      fc.record({ to, sender: index, receiver: index }).map(response),
      index.map(cookie),
      index.map((receiver) => data(receiver)),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(packet, from), { maxLength: 60 }), (sent) => {
        const fresh = createForwarder({ port: PORT, assigned: new Set() }, () => nowMs)
        fresh.setPeers([X, Y])
        const heard = new Set(['198.51.100.1:40001', '198.51.100.2:40002'])
        for (const [each, sender] of sent) {
          const destinations = fresh.take(each, sender)
          expect(destinations.length).toBeLessThanOrEqual(4)
          for (const { host, port: toPort } of destinations) expect(heard).toContain(`${host}:${toPort}`)
          for (const destination of destinations) expect(destination).not.toEqual(sender)
          heard.add(`${sender.host}:${sender.port}`)
        }
      }),
    )
  })

  describe('with a hostile member', () => {
    /** It has two ports on its own host, of which it knows everything. */
    const M: RelayPeer = { nodeId: 'm', publicKey: keyOf(3), endpoints: ['198.51.100.3:40003'], fallback: undefined }
    const AT_M = at('198.51.100.3', 40_003)
    let index = 1_000_000

    beforeEach(() => forwarder.setPeers([X, Y, M]))

    /** It answers itself in the name of the victim, from so many ports, and exchanges packets with itself. */
    function claim(victim: RelayPeer, ports = 1): void {
      for (let port = 0; port < ports; port += 1) {
        const from = at(AT_M.host, 50_000 + port)
        const [sender, answered] = [(index += 1), (index += 1)]
        forwarder.take(initiation({ to: M.publicKey, sender }), from)
        forwarder.take(response({ to: victim.publicKey, sender: answered, receiver: sender }), AT_M)
        forwarder.take(data(answered), from)
        forwarder.take(data(sender), AT_M)
      }
    }
    /** It answers all handshakes that it gets, as the victim. */
    function answerAll(to: readonly EndpointAddress[], sender: number): void {
      for (const each of to)
        if (each.host === AT_M.host)
          forwarder.take(response({ to: Y.publicKey, sender: (index += 1), receiver: sender }), each)
    }

    test.each([1, 16])(
      'still sends first messages to the address of the victim, which it claims from %d ports',
      (ports) => {
        exchange()
        for (let round = 0; round < 30; round += 1) {
          claim(X, ports)
          nowMs += 5_000
          const sender = (index += 1)
          const to = forwarder.take(initiation({ to: X.publicKey, sender }), at(AT_Y.host, 63_000 + round))
          expect(to).toContainEqual(AT_X)
          answerAll(to, sender)
          forwarder.take(data(33), AT_Y)
          forwarder.take(data(22), AT_X)
        }
      },
    )

    test('still sends a first message to a victim that has answered nobody yet', () => {
      claim(X, 16)
      forwarder.take(initiation({ to: Y.publicKey, sender: 11 }), AT_X)
      for (let round = 0; round < 30; round += 1) {
        claim(X, 16)
        const sender = (index += 1)
        const to = forwarder.take(initiation({ to: X.publicKey, sender }), AT_Y)
        expect(to).toContainEqual(AT_X)
        answerAll(to, sender)
      }
    })

    test('sends first messages of those that exchange packets with the victim to the victim alone', () => {
      exchange()
      claim(X, 16)
      expect(forwarder.take(initiation({ to: X.publicKey, sender: 55 }), AT_Y)).toEqual([AT_X])
    })

    test('keeps the address of a victim that comes from another host than the server has', () => {
      const elsewhere = at('198.51.100.9', 61_009)
      forwarder.take(initiation({ to: Y.publicKey, sender: 11 }), elsewhere)
      const to = forwarder.take(initiation({ to: Y.publicKey, sender: 12 }), elsewhere)
      expect(to).toContainEqual(at('198.51.100.2', 40_002))
      forwarder.take(response({ to: X.publicKey, sender: 77, receiver: 12 }), at('198.51.100.2', 40_002))
      forwarder.take(data(77), elsewhere)
      forwarder.take(data(12), at('198.51.100.2', 40_002))
      const tried = new Set<string>()
      for (let round = 0; round < 4; round += 1) {
        claim(X, 16)
        nowMs += 5_000
        const from = at(AT_Y.host, 63_000 + round)
        for (const { host, port } of forwarder.take(initiation({ to: X.publicKey, sender: (index += 1) }), from))
          tried.add(`${host}:${port}`)
      }
      expect(tried).toContain('198.51.100.9:61009')
    })

    test('lets an answer in the name of another node displace nothing of the one that began', () => {
      exchange()
      // X begins a handshake with the hostile member, which answers as if Y had begun it.
      forwarder.take(initiation({ to: M.publicKey, sender: 91 }), AT_X)
      forwarder.take(response({ to: Y.publicKey, sender: 92, receiver: 91 }), AT_M)
      expect(forwarder.take(initiation({ to: X.publicKey, sender: 93 }), at(AT_Y.host, 63_001))).toContainEqual(AT_X)
      expect(forwarder.take(initiation({ to: Y.publicKey, sender: 94 }), AT_X)).toEqual([AT_Y])
    })

    test('leaves open handshakes with the victim alone while it floods', () => {
      forwarder.take(initiation({ to: Y.publicKey, sender: 11 }), AT_X)
      expect(forwarder.take(initiation({ to: X.publicKey, sender: 22 }), AT_Y)).toContainEqual(AT_X)
      for (let count = 0; count < 2_000; count += 1)
        forwarder.take(initiation({ to: X.publicKey, sender: (index += 1) }), at(AT_M.host, 10_000 + (count % 100)))
      expect(forwarder.take(response({ to: Y.publicKey, sender: 33, receiver: 22 }), AT_X)).toEqual([AT_Y])
    })
  })
})
