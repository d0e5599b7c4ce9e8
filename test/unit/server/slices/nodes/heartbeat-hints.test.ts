import { expect, test } from 'vitest'
import { hintsOf, indexesOf, NO_HINTS, RECONCILE } from '../../../../../src/server/slices/nodes/heartbeat-hints.ts'

test.each([
  [null, []],
  ['1', [0]],
  ['7,10,512', [6, 9, 511]],
])('the places %j stand for the indexes %j', (places, indexes) => {
  expect(indexesOf(places)).toEqual(indexes)
})

test('each heartbeat is told what its place is marked with', () => {
  expect(hintsOf(4, { reconcile: '2,4', rotate: '3,4' })).toEqual([
    NO_HINTS,
    RECONCILE,
    { reconcile: false, rotate_keys: true },
    { reconcile: true, rotate_keys: true },
  ])
})
