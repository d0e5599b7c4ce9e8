import { expect, test } from 'vitest'
import { poolSizes } from '../../../../../src/server/adapters/postgres/pool-sizes.ts'

test('the connections of S1 add up to 35, those of the lanes among them', () => {
  expect(poolSizes()).toEqual({
    interactive: { min: 0, max: 16 },
    heartbeats: { min: 2, max: 2 },
    'node-keys': { min: 2, max: 2 },
    'change-feed': { min: 2, max: 2 },
    worker: { min: 0, max: 8 },
    bulk: { min: 0, max: 5 },
  })
})

test.each([
  [20, 16, 2],
  [8, 4, 2],
  [7, 5, 1],
  [5, 3, 1],
  [4, 4, 0],
  [1, 1, 0],
])('of %d interactive connections %d are left when each lane of nodes has %d', (max, left, lane) => {
  const sizes = poolSizes({ interactive: { min: 0, max } })
  expect([sizes.interactive.max, sizes.heartbeats.max, sizes['node-keys'].max]).toEqual([left, lane, lane])
})

test.each([
  [10, 8, 2],
  [6, 4, 2],
  [5, 5, 0],
  [1, 1, 0],
])('of %d worker connections %d are left when the change feed has %d', (max, left, lane) => {
  const sizes = poolSizes({ worker: { min: 0, max } })
  expect([sizes.worker.max, sizes['change-feed'].max]).toEqual([left, lane])
})

test('what is kept open is kept open once', () => {
  const sizes = poolSizes({ interactive: { min: 6, max: 10 }, worker: { min: 3, max: 6 } })
  expect([sizes.interactive.min, sizes.heartbeats.min, sizes['node-keys'].min]).toEqual([2, 2, 2])
  expect([sizes.worker.min, sizes['change-feed'].min]).toEqual([1, 2])
})
