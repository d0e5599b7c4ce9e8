import { beforeEach, describe, expect, test } from 'vitest'
import { createPaths, type Paths, type ReachedPeer } from '../../../../../src/cli/agent/endpoints/paths.ts'
import { createRelayAddresses, type RelayAddresses } from '../../../../../src/cli/agent/endpoints/relay-addresses.ts'
import type { PeerStatus } from '../../../../../src/cli/agent/device/device.ts'
import { had, KEYS } from '../../../../support/mesh/device-records.ts'

const [DIRECT, RELAY, OTHER_RELAY] = ['203.0.113.7:51820', '198.51.100.1:51821', '198.51.100.2:51821']
const NEAR = '192.168.1.9:51820'
const HERE = {
  address: '192.168.1.7',
  cidr: { words: [0xc0a8_0100], masks: [0xffff_ff00], text: '192.168.1.0/24' },
}
const DATA_BYTES = 128
/** All direct paths are tried this often at least. */
const PROBE_MS = 15_000

describe('the path to a peer', () => {
  let nowMs = 0
  let relays: RelayAddresses
  let paths: Paths
  /** By how much the clock of the machine was set. */
  let steppedMs: number
  let status: PeerStatus
  let ownRelay: string | undefined
  let asked: string[]

  beforeEach(() => {
    nowMs = 1_000_000
    ownRelay = undefined
    relays = createRelayAddresses()
    takeRelays(RELAY)
    asked = []
    const isOwnRelay = (each: string): boolean => {
      asked.push(each)
      return each === ownRelay
    }
    steppedMs = 0
    paths = createPaths({
      relays,
      isOwnRelay,
      networks: () => [HERE],
      now: () => nowMs + steppedMs,
      steady: () => nowMs,
      random: () => 0,
    })
    status = had({ publicKey: KEYS[0], endpoint: DIRECT, latestHandshakeMs: nowMs, receivedBytes: 92, sentBytes: 148 })
  })

  function takeRelays(...texts: readonly string[]): void {
    relays.take(
      texts.map((fallback_endpoint) => ({
        node_id: fallback_endpoint,
        name: '',
        public_key: '',
        mesh_address: '',
        endpoint: '',
        psk_issued_at: '',
        groups: [],
        candidates: [],
        subnets: [],
        fallback_endpoint,
      })),
    )
  }

  /** Looks after some time, with what the device has then. */
  function look(afterMs: number, change: Partial<PeerStatus> = {}, facts: Partial<ReachedPeer> = {}) {
    nowMs += afterMs
    status = { ...status, ...change }
    const { moves, wakes } = paths.look([
      { nodeId: 'n', status, given: DIRECT, candidates: [], fallback: RELAY, ...facts },
    ])
    for (const { endpoint, isRenewed } of moves)
      status = {
        ...status,
        endpoint,
        ...(isRenewed && { receivedBytes: 0, sentBytes: 148, latestHandshakeMs: undefined }),
      }
    return {
      moves: moves.map(({ endpoint, isRenewed }) => [endpoint, isRenewed ? 'anew' : 'in session']),
      wakes: wakes.length,
    }
  }

  const NOTHING = { moves: [], wakes: 0 }
  const sends = (): Partial<PeerStatus> => ({ sentBytes: status.sentBytes + DATA_BYTES })
  const receives = (): Partial<PeerStatus> => ({ receivedBytes: status.receivedBytes + DATA_BYTES })
  const way = () => paths.wayOf('n', status).way

  /** The direct path has failed, and the handshake through the relay is complete. */
  function relayed(): void {
    look(0)
    look(1_000, sends())
    expect(look(11_000).moves).toEqual([[RELAY, 'anew']])
    look(1_000, { ...receives(), latestHandshakeMs: nowMs + 1_000 })
    expect(way()).toBe('relayed')
  }

  test('goes to the relay with a new handshake once data is without an answer for 10.5 s', () => {
    look(0)
    expect([look(1_000, sends()), look(10_000, sends())]).toEqual([NOTHING, NOTHING])
    expect(look(500)).toEqual({ moves: [[RELAY, 'anew']], wakes: 0 })
  })

  test('goes to the relay once a handshake is without an answer for 10 s', () => {
    look(0, { latestHandshakeMs: undefined, receivedBytes: 0, sentBytes: 148 })
    expect(look(9_900)).toEqual(NOTHING)
    expect(look(100).moves).toEqual([[RELAY, 'anew']])
  })

  test('stays where answers come, and where only keepalives are sent', () => {
    look(0)
    for (let count = 0; count < 20; count += 1) expect(look(9_000, { ...sends(), ...receives() })).toEqual(NOTHING)
    for (let count = 0; count < 20; count += 1)
      expect(look(25_000, { sentBytes: status.sentBytes + 32, latestHandshakeMs: nowMs })).toEqual(NOTHING)
  })

  test('goes to the relay at once where the peer has no endpoint', () => {
    expect(look(0, { endpoint: undefined, latestHandshakeMs: undefined }, { given: '' }).moves).toEqual([
      [RELAY, 'anew'],
    ])
  })

  test('stays where there is no relay, or this machine is it', () => {
    look(0, sends(), { fallback: undefined })
    expect(look(20_000, sends(), { fallback: undefined })).toEqual(NOTHING)
    ownRelay = RELAY
    expect(look(20_000, sends())).toEqual(NOTHING)
  })

  test('is tried directly every 15 s for one second, without a new handshake, and with a packet after it', () => {
    relayed()
    expect(look(PROBE_MS).moves).toEqual([[DIRECT, 'in session']])
    expect(way()).toBe('relayed')
    expect([look(500), look(400)]).toEqual([NOTHING, NOTHING])
    expect(look(100).moves).toEqual([[RELAY, 'in session']])
    expect(look(100)).toEqual(NOTHING)
    expect(look(PROBE_MS - 2_000)).toEqual(NOTHING)
    expect(look(2_000).moves).toEqual([[DIRECT, 'in session']])
  })

  test('is tried directly after 15 s, and for one second, where the clock of the machine is set meanwhile', () => {
    relayed()
    steppedMs = -3_600_000
    expect(look(PROBE_MS).moves).toEqual([[DIRECT, 'in session']])
    steppedMs = -7_200_000
    expect(look(900)).toEqual(NOTHING)
    expect(look(100).moves).toEqual([[RELAY, 'in session']])
  })

  test('is tried every other time where it was direct last, and else at the other addresses of the peer', () => {
    const facts = { candidates: [NEAR] }
    look(0, { endpoint: NEAR }, facts)
    look(1_000, receives(), facts)
    look(1_000, sends(), facts)
    expect(look(11_000, {}, facts).moves).toEqual([[RELAY, 'anew']])
    look(1_000, { ...receives(), latestHandshakeMs: nowMs + 1_000 }, facts)
    const tries = [1, 2, 3].flatMap(() => {
      const [tried] = look(PROBE_MS, receives(), facts).moves
      look(1_000, {}, facts)
      return tried?.[0] ?? []
    })
    expect(tries).toEqual([NEAR, DIRECT, NEAR])
  })

  test('is direct at the candidate that was found, also where late packets of the relay lead back', () => {
    const facts = { candidates: [NEAR] }
    relayed()
    expect(look(PROBE_MS, {}, facts).moves).toEqual([[DIRECT, 'in session']])
    look(1_000, {}, facts)
    expect(look(PROBE_MS, {}, facts).moves).toEqual([[NEAR, 'in session']])
    look(100, {}, facts)
    look(100, receives(), facts)
    expect(way()).toBe('direct')
    expect(look(100, { ...receives(), endpoint: RELAY }, facts).moves).toEqual([[NEAR, 'anew']])
  })

  test('is held for 400 ms only where packets come', () => {
    relayed()
    expect(look(PROBE_MS, receives()).moves).toEqual([[DIRECT, 'in session']])
    expect(look(300)).toEqual(NOTHING)
    expect(look(100).moves).toEqual([[RELAY, 'in session']])
  })

  test('stays direct once a packet came by it', () => {
    relayed()
    look(PROBE_MS)
    look(100)
    look(100, receives())
    expect(way()).toBe('direct')
    expect(look(5_000)).toEqual(NOTHING)
  })

  test('does not count a packet that came before the endpoint was set as a direct one', () => {
    relayed()
    look(PROBE_MS)
    look(100, receives())
    expect(look(1_000).moves).toEqual([[RELAY, 'in session']])
  })

  test('is direct with a new handshake where late packets of the relay lead back after a try that found it', () => {
    relayed()
    look(PROBE_MS)
    look(100)
    look(100, receives())
    expect(look(100, { ...receives(), endpoint: RELAY }).moves).toEqual([[DIRECT, 'anew']])
  })

  test('is answered where the far end tries the direct one', () => {
    relayed()
    expect(look(400, { ...receives(), endpoint: DIRECT })).toEqual({ moves: [], wakes: 1 })
    expect(look(400)).toEqual(NOTHING)
  })

  test('goes to another relay of the mesh where this one does not answer for 5 s', () => {
    takeRelays(RELAY, RELAY, OTHER_RELAY)
    const noEndpoint = { given: '' }
    expect(look(0, { endpoint: undefined, receivedBytes: 0 }, noEndpoint).moves).toEqual([[RELAY, 'anew']])
    look(1_000, {}, noEndpoint)
    expect(look(5_000, {}, noEndpoint).moves).toEqual([[OTHER_RELAY, 'anew']])
    look(1_000, {}, noEndpoint)
    expect(look(5_000, {}, noEndpoint).moves).toEqual([[RELAY, 'anew']])
  })

  test('stays at a relay of the mesh that it would not try itself, where the far end has chosen it', () => {
    const many = [1, 2, 3, 4, 5, 6].map((number) => `198.51.100.${number}:51821`)
    takeRelays(...many)
    const far = many.at(-1) ?? ''
    look(0, { endpoint: far })
    expect(look(1_000, receives())).toEqual(NOTHING)
    takeRelays(...many.slice(0, -1))
    expect(look(1_000).moves).toEqual([[RELAY, 'anew']])
  })

  test('is chosen here alone from the look on that moves the peer', () => {
    look(0, { latestHandshakeMs: undefined, receivedBytes: 0, sentBytes: 148 })
    expect(paths.isChosen('n')).toBe(false)
    expect(look(10_000).moves).toEqual([[RELAY, 'anew']])
    expect(paths.isChosen('n')).toBe(true)
  })

  test('asks once in a look whether a relay is that of this machine', () => {
    const peers = [1, 2, 3].map((number) => ({
      nodeId: `n-${number}`,
      status,
      given: DIRECT,
      candidates: [],
      fallback: RELAY,
    }))
    paths.look(peers)
    expect(asked).toEqual([RELAY])
  })

  test('stays at a relay while nothing but its own tries of the direct path is sent', () => {
    takeRelays(RELAY, OTHER_RELAY)
    relayed()
    for (let seconds = 0, empty = 0; seconds < 170; seconds += 1) {
      status = { ...status, sentBytes: status.sentBytes + 32 * empty }
      const { moves, wakes } = look(1_000)
      expect(moves.filter(([, how]) => how === 'anew')).toEqual([])
      empty = moves.length + wakes
    }
  })

  test('leaves a relay that is gone', () => {
    relayed()
    takeRelays(OTHER_RELAY)
    expect(look(1_000, {}, { fallback: OTHER_RELAY }).moves).toEqual([[OTHER_RELAY, 'anew']])
    takeRelays()
    expect(look(1_000, {}, { fallback: undefined }).moves).toEqual([[DIRECT, 'anew']])
  })
})
