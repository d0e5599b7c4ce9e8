import { expect, test } from 'vitest'
import { formatPskIssuedAt, isPskIssuedAt } from '../../../../src/shared/mesh/psk-instant.ts'

test.each([
  [0n, '1970-01-01T00:00:00.000000000Z'],
  [1_700_000_000_123_000_001n, '2023-11-14T22:13:20.123000001Z'],
  [1_700_000_000_999_999_999n, '2023-11-14T22:13:20.999999999Z'],
  [253_402_300_799_999_999_999n, '9999-12-31T23:59:59.999999999Z'],
])('%d is written with nine fractional digits', (ns, text) => {
  expect(formatPskIssuedAt(ns)).toBe(text)
  expect(isPskIssuedAt(text)).toBe(true)
})

test.each([
  ['2024-02-29T00:00:00.000000000Z', true],
  ['2023-02-29T00:00:00.000000000Z', false],
  ['2023-13-01T00:00:00.000000000Z', false],
  ['2023-01-01T24:00:00.000000000Z', false],
  ['2023-01-01T00:00:60.000000000Z', false],
  ['2023-01-01T00:00:00.00000000Z', false],
  ['2023-01-01T00:00:00Z', false],
  ['2023-01-01 00:00:00.000000000Z', false],
  ['2023-01-01T00:00:00.000000000Z\n', false],
])('%j is an instant: %s', (text, isOne) => {
  expect(isPskIssuedAt(text)).toBe(isOne)
})
