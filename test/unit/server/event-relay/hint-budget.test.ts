import { expect, test } from 'vitest'
import { createHintBudget } from '../../../../src/server/event-relay/hint-budget.ts'

test('what was spent is there again after the window, part by part', () => {
  const budget = createHintBudget({ hints: 10, windowMs: 1_000 })
  budget.spend(4, 0)
  budget.spend(6, 500)
  expect([500, 999, 1_000, 1_499, 1_500].map(budget.left)).toEqual([0, 0, 4, 4, 10])
})

test('a clock that was set back leaves a whole budget', () => {
  const budget = createHintBudget({ hints: 10, windowMs: 1_000 })
  budget.spend(10, 60_000)
  expect(budget.left(0)).toBe(10)
})

test('more than there was leaves nothing', () => {
  const budget = createHintBudget({ hints: 10, windowMs: 1_000 })
  budget.spend(12, 0)
  expect(budget.left(1)).toBe(0)
})
