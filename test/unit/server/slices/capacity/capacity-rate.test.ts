import { expect, test } from 'vitest'
import { nextRate } from '../../../../../src/server/slices/capacity/counted-rate.ts'

const FIRST = { total: 100n, atMs: 1_000, perSecond: 0, isMeasured: false }

test('the first reading has the rate 0', () => {
  expect(nextRate(undefined, { total: 100n, atMs: 1_000 })).toEqual(FIRST)
})

test('a rate is the difference of two totals by the seconds between them', () => {
  expect(nextRate(FIRST, { total: 175n, atMs: 16_000 })).toEqual({
    total: 175n,
    atMs: 16_000,
    perSecond: 5,
    isMeasured: true,
  })
})

test('a total that has fallen begins again, as after a restore', () => {
  const fallen = nextRate(FIRST, { total: 99n, atMs: 16_000 })
  expect(fallen).toEqual({ total: 99n, atMs: 16_000, perSecond: 0, isMeasured: false })
  expect(nextRate(fallen, { total: 129n, atMs: 31_000 }).perSecond).toBe(2)
})

test.each([1_000, 999, -5_000])('without time since the last reading nothing changes: at %i ms', (atMs) => {
  expect(nextRate(FIRST, { total: 5_000n, atMs })).toBe(FIRST)
})

test('totals beyond the exact numbers of JSON keep their differences', () => {
  const large = { ...FIRST, total: 9_007_199_254_740_993n }
  expect(nextRate(large, { total: 9_007_199_254_740_994n, atMs: 2_000 }).perSecond).toBe(1)
})
