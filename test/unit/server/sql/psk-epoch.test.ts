import { expect, test } from 'vitest'
import { nextPskIssuedAt } from '../../../../src/server/sql/psk-epoch.ts'

test('a first key is of now, in nanoseconds', () => {
  expect(nextPskIssuedAt(1_700_000_000_123, undefined)).toBe(1_700_000_000_123_000_000n)
})

test('a later key is of now once the clock is past the last one', () => {
  expect(nextPskIssuedAt(1_700_000_000_124, 1_700_000_000_123_000_007n)).toBe(1_700_000_000_124_000_000n)
})

test('a key is one nanosecond later than the last one when the clock stands or goes back', () => {
  expect(nextPskIssuedAt(1_700_000_000_123, 1_700_000_000_123_000_000n)).toBe(1_700_000_000_123_000_001n)
  expect(nextPskIssuedAt(1_600_000_000_000, 1_700_000_000_123_000_000n)).toBe(1_700_000_000_123_000_001n)
})
