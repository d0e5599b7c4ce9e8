import { expect, test } from 'vitest'
import { divide } from '../../../../src/cli/agent-sim/workers/shares.ts'

test.each([
  ['one Domain over three processes', { nodes: 10, domains: [undefined], workers: 3 }, [[4], [3], [3]]],
  ['whole Domains where there are enough', { nodes: 10, domains: ['a', 'b', 'c'], workers: 2 }, [[4, 3], [3]]],
  ['fewer Domains than processes', { nodes: 9, domains: ['a', 'b'], workers: 3 }, [[3], [4], [2]]],
  ['fewer nodes than Domains', { nodes: 1, domains: ['a', 'b'], workers: 1 }, [[1]]],
])('nodes are divided evenly: %s', (_, division, expected) => {
  const shares = divide(division)
  expect(shares.map((share) => share.map(({ nodes }) => nodes))).toEqual(expected)
})

test('each Domain has its part, in one process', () => {
  expect(divide({ nodes: 5, domains: ['a', 'b', 'c'], workers: 2 })).toEqual([
    [
      { id: 'a', nodes: 2 },
      { id: 'c', nodes: 1 },
    ],
    [{ id: 'b', nodes: 2 }],
  ])
})
