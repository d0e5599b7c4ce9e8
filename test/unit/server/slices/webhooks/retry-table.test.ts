import { describe, expect, it } from 'vitest'
import { endpointPauseAfter, pauseAfter, retryAfterOf } from '../../../../../src/server/slices/webhooks/retry-table.ts'

const SECOND_MS = 1_000
const DAY_MS = 86_400_000

describe('The table of retries', () => {
  it('has the nine pauses of Standard Webhooks, and none after the tenth attempt', () => {
    const pauses = Array.from({ length: 10 }, (_, index) =>
      pauseAfter({ tries: index + 1, retryAfterMs: undefined, random: 0 }),
    )
    expect(pauses.map((ms) => (ms === undefined ? undefined : ms / SECOND_MS))).toEqual([
      5,
      300,
      1_800,
      7_200,
      18_000,
      36_000,
      50_400,
      72_000,
      86_400,
      undefined,
    ])
  })

  it('lengthens a pause by a tenth at most', () => {
    expect(pauseAfter({ tries: 2, retryAfterMs: undefined, random: 0.5 })).toBe(315 * SECOND_MS)
    expect(pauseAfter({ tries: 2, retryAfterMs: undefined, random: 0.999_999 })).toBe(330 * SECOND_MS)
  })

  it('honours a longer Retry-After up to a day, and no shorter one', () => {
    expect(pauseAfter({ tries: 1, retryAfterMs: 60 * SECOND_MS, random: 0 })).toBe(60 * SECOND_MS)
    expect(pauseAfter({ tries: 1, retryAfterMs: SECOND_MS, random: 0 })).toBe(5 * SECOND_MS)
    expect(pauseAfter({ tries: 1, retryAfterMs: 30 * DAY_MS, random: 0 })).toBe(DAY_MS)
  })

  it('leaves a failing endpoint alone for 2 s, 4 s, up to a minute, and up to an hour where it asks for that', () => {
    expect([1, 2, 3, 6, 1_000].map((failures) => endpointPauseAfter(failures) / SECOND_MS)).toEqual([2, 4, 8, 60, 60])
    expect(endpointPauseAfter(1, 600 * SECOND_MS)).toBe(600 * SECOND_MS)
    expect(endpointPauseAfter(1, DAY_MS)).toBe(3_600 * SECOND_MS)
  })

  it.each([
    ['120', 120_000],
    ['Sun, 01 Mar 2026 08:02:00 GMT', 120_000],
    ['Sun, 01 Mar 2026 07:00:00 GMT', undefined],
    ['0', undefined],
    ['-5', undefined],
    ['soon', undefined],
    ['9'.repeat(30), undefined],
    [undefined, undefined],
  ])('reads Retry-After %j as %j ms', (text, ms) => {
    expect(retryAfterOf(text, Date.parse('2026-03-01T08:00:00Z'))).toBe(ms)
  })
})
