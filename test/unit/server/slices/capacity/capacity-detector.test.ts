import fc from 'fast-check'
import { expect, test } from 'vitest'
import { detect } from '../../../../../src/server/slices/capacity/crossing-detector.ts'

/** Feeds ratios to a detector that begins below the threshold; the places of those that fired. */
function firedAt(ratios: readonly (number | null)[]): number[] {
  let isOver = false
  return ratios.flatMap((ratio, place) => {
    const detected = detect(isOver, ratio)
    isOver = detected.isOver
    return detected.hasCrossed ? [place] : []
  })
}

test.each([
  ['fires once at 0.80, however long it stays there', [0.1, 0.8, 0.81, 0.8, 1.5], [1]],
  ['stays silent below 0.80', [0.1, 0.7999, 0.1, 0.7999], []],
  ['does not fire again above 0.75', [0.8, 0.75, 0.8, 0.76, 0.9], [0]],
  ['fires again after it was below 0.75', [0.8, 0.7499, 0.8, 0.2, 0.79, 0.8], [0, 2, 5]],
  ['fires on a first sample at or above 0.80', [0.95, 0.96], [0]],
  ['begins below 0.75 again where the target is taken away', [0.9, null, 0.78, 0.9], [0, 3]],
])('%s', (_rule, ratios, places) => {
  expect(firedAt(ratios)).toEqual(places)
})

test.each([
  [4, 5],
  [800, 1_000],
  [4_194_304, 5_242_880],
  [24, 30],
])('%i of %i is at the threshold exactly', (used, target) => {
  expect(detect(false, used / target)).toEqual({ isOver: true, hasCrossed: true })
})

/** The same by looking back: a sample fires when it is the first at 0.80 since the last one below 0.75 or without a ratio. */
function oracle(ratios: readonly (number | null)[]): number[] {
  return ratios.flatMap((ratio, place) => {
    if (ratio === null || ratio < 0.8) return []
    const armed = ratios.slice(0, place).findLastIndex((earlier) => earlier === null || earlier < 0.75)
    return ratios.slice(armed + 1, place).every((earlier) => earlier !== null && earlier < 0.8) ? [place] : []
  })
}

test('any series of ratios fires where a look back says', () => {
  const ratio = fc.oneof(
    fc.constant(null),
    fc.constantFrom(0, 0.7499999, 0.75, 0.7999999, 0.8, 1),
    fc.double({ min: 0.7, max: 0.85, noNaN: true }),
  )
  fc.assert(
    fc.property(fc.array(ratio, { maxLength: 40 }), (ratios) => {
      expect(firedAt(ratios)).toEqual(oracle(ratios))
    }),
    { numRuns: 1_000 },
  )
})
