import { expect, test } from 'vitest'
import { daysUntilFull, growthADay } from '../../../../../src/server/slices/capacity/usage-trend.ts'

const days = (...maxima: readonly number[]) => maxima.map((max, day) => ({ day: 20_000 + day, max }))

test('two days show no growth', () => {
  expect(growthADay(days(10, 20))).toBeUndefined()
})

test('growth is the median of the slopes between any two days', () => {
  expect(growthADay(days(100, 110, 120))).toBe(10)
  expect(growthADay(days(100, 110, 140))).toBe(20)
  expect(growthADay(days(100, 102, 104, 106))).toBe(2)
  expect(growthADay(days(50, 40, 30))).toBe(-10)
})

test('one day out of line does not move it', () => {
  expect(growthADay(days(100, 110, 120, 9_000, 140, 150, 160))).toBe(10)
})

test('days that are missing count as days', () => {
  const known = [
    { day: 20_000, max: 100 },
    { day: 20_004, max: 140 },
    { day: 20_005, max: 150 },
  ]
  expect(growthADay(known)).toBe(10)
})

test.each([
  ['the rest of the target by the growth', { used: 9_000, target: 10_000 }, 100, 10],
  ['to a tenth of a day', { used: 9_000, target: 10_000 }, 300, 3.3],
  ['0 where the target is reached', { used: 10_000, target: 10_000 }, undefined, 0],
  ['0 where it is passed and use falls', { used: 11_000, target: 10_000 }, -5, 0],
  ['null without growth', { used: 9_000, target: 10_000 }, 0, null],
  ['null where use falls', { used: 9_000, target: 10_000 }, -1, null],
  ['null where too little is known', { used: 9_000, target: 10_000 }, undefined, null],
  ['null without a target', { used: 9_000, target: 0 }, 100, null],
  ['a year', { used: 0, target: 365 }, 1, 365],
  ['null beyond a year', { used: 0, target: 366 }, 1, null],
])('days until full are %s', (_rule, use, growth, expected) => {
  expect(daysUntilFull(use, growth)).toBe(expected)
})
