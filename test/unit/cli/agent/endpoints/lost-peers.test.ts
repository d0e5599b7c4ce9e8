import { describe, expect, test } from 'vitest'
import { createLostPeers, type ReachablePeer } from '../../../../../src/cli/agent/endpoints/lost-peers.ts'
import { had, KEYS } from '../../../../support/mesh/device-records.ts'

const START = 1_000_000
const GIVEN = '203.0.113.7:51820'
const DEAD = '198.51.100.1:4000'

/** Looks at one peer as often as the agent does, and returns the seconds at which it is lost. */
function lostAt(
  peerAt: (second: number) => Partial<ReachablePeer['status']>,
  given = GIVEN,
  setBackMs = (_second: number): number => 0,
): readonly number[] {
  let nowMs = START
  const lost = createLostPeers({ now: () => nowMs - setBackMs((nowMs - START) / 1_000), steady: () => nowMs })
  const found: number[] = []
  for (let second = 0; second <= 60; second += 1, nowMs += 1_000) {
    const status = had({ publicKey: KEYS[0], endpoint: DEAD, keepaliveSeconds: 25, ...peerAt(second) })
    if (lost.look([{ nodeId: 'n', status, placed: undefined, given, candidates: [] }]).length > 0) found.push(second)
  }
  return found
}

describe('a peer is lost', () => {
  test('15 s after the first look without a session, and no more often than every 15 s', () => {
    expect(lostAt(() => ({}))).toEqual([15, 30, 45, 60])
  })

  test('40 s after the last byte of a session with keepalives', () => {
    expect(lostAt((second) => ({ latestHandshakeMs: START, receivedBytes: Math.min(second, 10) }))).toEqual([50])
  })

  test('in the same time where the clock of the machine is set meanwhile', () => {
    const setBackMs = (second: number): number => (second < 5 ? 0 : 3_600_000)
    expect(lostAt(() => ({}), GIVEN, setBackMs)).toEqual([15, 30, 45, 60])
  })

  test.each([
    ['while bytes come', (second: number) => ({ latestHandshakeMs: START, receivedBytes: second }), GIVEN],
    ['in a quiet session without keepalives', () => ({ latestHandshakeMs: START, keepaliveSeconds: 0 }), GIVEN],
    ['where the server gives no endpoint', () => ({}), ''],
    ['where the server gives the same endpoint', () => ({ endpoint: GIVEN }), GIVEN],
    ['where the server writes it in another way', () => ({ endpoint: '[2001:db8:0::7]:5' }), '[2001:db8::7]:5'],
    ['where the device knows none', () => ({ endpoint: undefined }), GIVEN],
  ])('never %s', (_, peerAt, given) => {
    expect(lostAt(peerAt, given)).toEqual([])
  })
})
