import { describe, expect, it } from 'vitest'
import {
  choosePeerEndpoint,
  type Observation,
  type OwnEndpoint,
} from '../../../../../src/server/slices/node-observations/peer-endpoint.ts'

const A = '203.0.113.7:51820'
const B = '203.0.113.7:40001'
const C = '[2001:db8::7]:51820'
const LOCAL = '192.168.1.7:51820'

function addressOf(text: string) {
  const at = text.lastIndexOf(':')
  return { host: text.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(text.slice(at + 1)) }
}

const own = (text: string, natType = 'unknown', reportedAtMs = 0): OwnEndpoint => ({
  ...addressOf(text),
  natType,
  reportedAtMs,
})
/** Since when a peer sees the node there, and when it did last. */
const seen = (text: string, sinceMs: number, observedAtMs = sinceMs): Observation => ({
  ...addressOf(text),
  sinceMs,
  observedAtMs,
})
const chosen = (of: Parameters<typeof choosePeerEndpoint>[0]): string | undefined => {
  const endpoint = choosePeerEndpoint(of)
  if (endpoint === undefined) return undefined
  return endpoint.host.includes(':') ? `[${endpoint.host}]:${endpoint.port}` : `${endpoint.host}:${endpoint.port}`
}

describe('Peers get', () => {
  it.each([
    ['nothing of a node that nobody has reported of', undefined, [], undefined],
    ['what the node has determined, whatever peers see', own(A, 'cone'), [seen(B, 1), seen(B, 2)], A],
    ['the guess of a node that no peer sees', own(A), [], A],
    [
      'the public address and not a local candidate that more peers see',
      { ...own(LOCAL), candidates: [LOCAL] },
      [seen(A, 1), seen(LOCAL, 2), seen(LOCAL, 3)],
      A,
    ],
    [
      'a local candidate where no peer sees a public address',
      { ...own(LOCAL), candidates: [LOCAL] },
      [seen(LOCAL, 2)],
      LOCAL,
    ],
    ['what a peer sees instead of a guess', own(A), [seen(B, 1)], B],
    ['what a peer sees of a node that reports nothing', undefined, [seen(B, 1)], B],
    ['an IPv6 address like any other', own(A), [seen(C, 1)], C],
    ['the newest of several that one peer each sees', undefined, [seen(A, 1), seen(C, 3), seen(B, 2)], C],
    ['what two peers see and not what another one sees later', undefined, [seen(A, 1), seen(A, 2), seen(B, 9)], A],
    ['what a peer sees and the node guesses, and not what another one sees', own(A), [seen(A, 1), seen(B, 9)], A],
    ['what two peers see and not what another one and the guess say', own(A), [seen(A, 9), seen(B, 1), seen(B, 2)], B],
    [
      'of two that two peers each see the one that was confirmed last',
      own(C),
      [seen(A, 1), seen(A, 2), seen(B, 3), seen(B, 4)],
      B,
    ],
    [
      'what a peer sees and the node guesses, and not what two have seen before the node moved',
      own(C),
      [seen(A, 0), seen(A, 0), seen(C, 5)],
      C,
    ],
    ['the same where that peer reported it before the node did', own(A), [seen(C, 0), seen(C, 0), seen(A, 0)], A],
    [
      'what two peers saw before the node moved while nobody sees it where it guesses',
      own(C),
      [seen(A, 0), seen(A, 0)],
      A,
    ],
    [
      'the same although one more peer joins those of the old one',
      undefined,
      [seen(A, 1), seen(A, 2), seen(B, 3), seen(B, 4), seen(A, 9)],
      B,
    ],
    [
      'the same although one of few that remain there is joined',
      undefined,
      [seen(A, 1), seen(B, 3), seen(B, 4), seen(A, 9)],
      B,
    ],
    ['a public guess and not what a peer at the same site sees', own(A), [seen(LOCAL, 1), seen(LOCAL, 2)], A],
    ['what a peer at the same site sees where the guess is local too', own('10.0.0.7:51820'), [seen(LOCAL, 1)], LOCAL],
    ['what a peer at the same site sees where there is no guess', undefined, [seen(LOCAL, 1)], LOCAL],
    ['a public address and not a newer local one', undefined, [seen(A, 1), seen(LOCAL, 2)], A],
    [
      'a local address that two peers see and not a public one of another peer',
      undefined,
      [seen(LOCAL, 1), seen(LOCAL, 2), seen(A, 3)],
      LOCAL,
    ],
  ] as const)('%s', (_, report, observed, expected) => {
    expect(chosen({ own: report, observed })).toBe(expected)
    expect(chosen({ own: report, observed: observed.toReversed() })).toBe(expected)
  })

  it('what is as old as something else in the same way, whatever the order of the rows', () => {
    expect(chosen({ own: undefined, observed: [seen(A, 1), seen(B, 1)] })).toBe(B)
    expect(chosen({ own: undefined, observed: [seen(B, 1), seen(A, 1)] })).toBe(B)
  })

  it.each(['10.1.2.3', '172.16.0.1', '192.168.0.1', '169.254.1.1', '100.64.0.9', '[fd00::1]', '[fe80::1]'])(
    'no %s instead of a public guess',
    (host) => {
      expect(chosen({ own: own(A), observed: [seen(`${host}:51820`, 1)] })).toBe(A)
    },
  )

  it('an endpoint that is as fresh as the newest report of that address', () => {
    const witnesses = [seen(A, 1, 70), seen(A, 2, 60), seen(B, 3, 90)]
    expect(choosePeerEndpoint({ own: own(A, 'unknown', 80), observed: witnesses })?.confirmedAtMs).toBe(80)
    expect(choosePeerEndpoint({ own: own(C, 'unknown', 80), observed: witnesses })?.confirmedAtMs).toBe(70)
    expect(choosePeerEndpoint({ own: own(C, 'cone', 50), observed: witnesses })?.confirmedAtMs).toBe(50)
  })
})
