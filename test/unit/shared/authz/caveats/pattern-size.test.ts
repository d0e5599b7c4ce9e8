import { expect, test } from 'vitest'
import { patternSize } from '../../../../../src/shared/authz/caveats/pattern-size.ts'

test.each([
  ['', 0],
  ['abc', 3],
  ['a{1000}', 1000],
  ['a{2,5}b', 6],
  ['a{7,}', 7],
  ['a{0}', 1],
  ['[a-z]{10}', 50],
  ['\\d{10}', 20],
  ['(ab){1,50}', 200],
  ['(a{10}b){10}', 130],
  ['(a{10}){10}{10}', 1200],
  ['x{,3}', 5],
  ['a\\{9}', 5],
  [')a{3}', 4],
  ['(((a{9}', 9],
])('the expression %s is about %i characters long once its repetitions are written out', (pattern, size) => {
  expect(patternSize(pattern)).toBe(size)
})
