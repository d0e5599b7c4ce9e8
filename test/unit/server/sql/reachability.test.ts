import { describe, expect, test } from 'vitest'
import * as fc from 'fast-check'
import { acceptedWindow, reachabilityAt } from '../../../../src/server/sql/reachability.ts'

const NOW = 1_700_000_000_000

describe('reachabilityAt', () => {
  test('a node that never reported is never_reported since its creation', () => {
    const times = { createdAtMs: NOW - 900_000, acceptedAtMs: undefined, healthySinceMs: undefined }
    expect(reachabilityAt(times, NOW)).toEqual({ state: 'never_reported', changedAtMs: 1_699_999_100_000 })
  })

  test.each([
    ['at the heartbeat', 0, 'healthy', 1_699_000_000_000],
    ['ahead of the clock', -5_000, 'healthy', 1_699_000_000_000],
    ['1 ms before 90 s', 89_999, 'healthy', 1_699_000_000_000],
    ['at 90 s', 90_000, 'stale', 1_700_000_000_000],
    ['1 ms before 300 s', 299_999, 'stale', 1_699_999_790_001],
    ['at 300 s', 300_000, 'unreachable', 1_700_000_000_000],
    ['a day later', 86_400_000, 'unreachable', 1_699_913_900_000],
  ] as const)('%s a node is as S0 says, and since when', (_when, ageMs, state, changedAtMs) => {
    const times = { createdAtMs: 0, acceptedAtMs: NOW - ageMs, healthySinceMs: 1_699_000_000_000 }
    expect(reachabilityAt(times, NOW)).toEqual({ state, changedAtMs })
  })
})

describe('acceptedWindow', () => {
  const STATES = ['never_reported', 'healthy', 'stale', 'unreachable'] as const

  test('holds exactly the heartbeats of nodes in that state', () => {
    const ages = fc.oneof(
      fc.integer({ min: -1_000, max: 400_000 }),
      fc.constantFrom(89_999, 90_000, 90_001, 299_999, 300_000, 300_001),
    )
    fc.assert(
      fc.property(fc.option(ages, { nil: undefined }), (ageMs) => {
        const acceptedAtMs = ageMs === undefined ? undefined : NOW - ageMs
        const holding = STATES.filter((state) => {
          const window = acceptedWindow(state, NOW)
          if (window === 'never' || acceptedAtMs === undefined) return window === 'never' && acceptedAtMs === undefined
          const { afterMs = -Infinity, untilMs = Infinity } = window
          return acceptedAtMs > afterMs && acceptedAtMs <= untilMs
        })
        const { state } = reachabilityAt({ createdAtMs: 0, acceptedAtMs, healthySinceMs: 0 }, NOW)
        expect(holding).toEqual([state])
      }),
    )
  })
})
