import { expect, test } from 'vitest'
import { poolSizes } from '../../../../../src/server/adapters/postgres/pool-sizes.ts'

test('the connections of S1 add up to 35, those of nodes among them', () => {
  expect(poolSizes()).toEqual({
    interactive: { min: 0, max: 16 },
    heartbeats: { min: 2, max: 2 },
    'node-keys': { min: 2, max: 2 },
    worker: { min: 0, max: 10 },
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

test('what is kept open is kept open once', () => {
  const sizes = poolSizes({ interactive: { min: 6, max: 10 } })
  expect([sizes.interactive.min, sizes.heartbeats.min, sizes['node-keys'].min]).toEqual([2, 2, 2])
})
