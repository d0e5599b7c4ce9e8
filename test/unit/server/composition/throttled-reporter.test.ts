import { expect, test, vi } from 'vitest'
import { throttledReporter } from '../../../../src/server/composition/throttled-reporter.ts'

test('tells of each subject at once, and again only after so long', () => {
  let now = 0
  const told = vi.fn()
  const report = throttledReporter(told, 1_000, () => now)
  report('sweep', 'a')
  report('sweep', 'b')
  report('relay', 'c')
  now = 999
  report('sweep', 'd')
  now = 1_000
  report('sweep', 'e')
  expect(told.mock.calls).toEqual([
    ['sweep', 'a'],
    ['relay', 'c'],
    ['sweep', 'e'],
  ])
})
