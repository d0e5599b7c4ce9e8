import { describe, expect, test } from 'vitest'
import { createDirectSearch, directWays, type LocalNetwork } from '../../../../../src/cli/agent/endpoints/candidates.ts'
import type { ReachablePeer } from '../../../../../src/cli/agent/endpoints/lost-peers.ts'
import { parseCidr } from '../../../../../src/shared/networks/cidr.ts'
import { had, KEYS } from '../../../../support/mesh/device-records.ts'

const START = 1_000_000
const GIVEN = '203.0.113.7:51820'
const FAR = '172.16.3.9:51820'
const NEAR = '192.168.1.9:51820'
const HERE = [networkOf('192.168.1.7', '192.168.1.0/24')]

function networkOf(address: string, text: string): LocalNetwork {
  const read = parseCidr(text)
  if (!read.ok) throw new Error(text)
  return { address, cidr: read.cidr }
}

/** A peer of the mesh whose tries are followed: the device takes each of them. */
function sought(more: Partial<ReachablePeer> = {}) {
  let nowMs = START
  let setBackMs = 0
  const search = createDirectSearch({ now: () => nowMs - setBackMs, steady: () => nowMs }, () => HERE)
  const status = had({ publicKey: KEYS[0], endpoint: GIVEN, keepaliveSeconds: 25 })
  const peer = { nodeId: 'n', status, placed: undefined, given: GIVEN, candidates: [FAR, NEAR], ...more }
  /** Looks every second, and returns what is tried at which second. */
  function triesUntil(seconds: number, change: (second: number) => Partial<ReachablePeer> = () => ({})) {
    const tries: [number, string][] = []
    for (let second = (nowMs - START) / 1_000; second <= seconds; second += 1, nowMs += 1_000) {
      Object.assign(peer, change(second))
      const way = search.look([peer]).get('n')
      if (way === undefined) continue
      tries.push([second, way])
      peer.status = { ...peer.status, endpoint: way }
    }
    return tries
  }
  return { search, peer, triesUntil, setBack: (ms: number) => void (setBackMs = ms) }
}

describe('a peer without a session', () => {
  test('is tried for 3 s at its endpoint, for 2 s at each candidate, the near ones first, and at its endpoint again', () => {
    const { triesUntil, search } = sought()
    expect(triesUntil(6)).toEqual([
      [3, NEAR],
      [5, FAR],
    ])
    expect(search.isActive()).toBe(true)
    expect(triesUntil(8)).toEqual([[7, GIVEN]])
    expect(search.isActive()).toBe(false)
  })

  test('is tried in the same time where the clock of the machine is set back meanwhile', () => {
    const { triesUntil, setBack } = sought()
    expect(triesUntil(1)).toEqual([])
    setBack(3_600_000)
    expect(triesUntil(6)).toEqual([
      [3, NEAR],
      [5, FAR],
    ])
  })

  test('is tried again after a pause, which doubles', () => {
    expect(
      sought()
        .triesUntil(120)
        .filter(([, way]) => way === NEAR),
    ).toEqual([
      [3, NEAR],
      [37, NEAR],
      [101, NEAR],
    ])
  })

  test('is tried at its endpoint first where the device has another one', () => {
    const status = had({ publicKey: KEYS[0], endpoint: '198.51.100.1:4000', keepaliveSeconds: 25 })
    expect(sought({ status }).triesUntil(14)).toEqual([
      [10, GIVEN],
      [13, NEAR],
    ])
  })

  test('has 10 s to answer again where it had a session, as after a change of its keys', () => {
    const live = had({ publicKey: KEYS[0], endpoint: GIVEN, latestHandshakeMs: START })
    const rotated = had({ publicKey: KEYS[0], endpoint: GIVEN })
    const { triesUntil } = sought()
    expect(triesUntil(19, (second) => (second > 2 ? {} : { status: second === 2 ? rotated : live }))).toEqual([
      [15, NEAR],
      [17, FAR],
      [19, GIVEN],
    ])
  })

  test('is sought at once where the server gives other addresses', () => {
    const { triesUntil } = sought()
    const NEW = '192.168.1.44:51820'
    expect(triesUntil(16, (second) => (second < 10 ? {} : { candidates: [NEW] }))).toEqual([
      [3, NEAR],
      [5, FAR],
      [7, GIVEN],
      [13, NEW],
      [15, GIVEN],
    ])
  })

  test.each([
    ['with a session', { status: had({ publicKey: KEYS[0], endpoint: FAR, latestHandshakeMs: START }) }],
    ['without candidates', { candidates: [] }],
    ['with its endpoint as the only candidate', { candidates: [GIVEN] }],
  ])('but not one %s', (_, more) => {
    const { triesUntil, search } = sought(more)
    expect(triesUntil(60)).toEqual([])
    expect(search.isActive()).toBe(false)
  })

  test('keeps the path that answers', () => {
    const { triesUntil } = sought()
    const answered = had({ publicKey: KEYS[0], endpoint: NEAR, latestHandshakeMs: START + 4_000 })
    expect(triesUntil(100, (second) => (second < 4 ? {} : { status: answered }))).toEqual([[3, NEAR]])
  })
})

describe('the ways to a peer', () => {
  const ways = (candidates: readonly string[], given = GIVEN) => directWays({ given, candidates }, HERE)

  test.each([
    ['addresses of this machine', ['192.168.1.7:51820']],
    ['those of a family that this machine has no address of', ['[2001:db8::7]:51820']],
    ['the endpoint once more', [GIVEN]],
    ['texts that are no address', ['vpn.example.org:51820']],
  ])('leave out %s', (_, candidates) => {
    expect(ways(candidates)).toEqual([GIVEN])
  })

  test('are the candidates alone where the server gives no endpoint', () => {
    expect(ways([FAR, NEAR], '')).toEqual([NEAR, FAR])
  })
})
