import { expect, test } from 'vitest'
import { createEpochLines } from '../../../../src/shared/mesh/epoch-lines.ts'
import { id, issued } from '../../../support/fleet/mesh-agents.ts'

const peers = [1, 2, 3].map((number) => ({ id: id(number), issued: issued(number) }))

function read({ runs }: { readonly runs: readonly Uint8Array[] }): string {
  return runs.map((run) => Buffer.from(run).toString()).join('')
}

test('Each node is given its own half, and no line of the peers that it lacks', () => {
  const lines = createEpochLines(peers)
  expect(read(lines.of(issued(7), [1]))).toBe(
    `${id(1)}|${issued(7)}|${issued(1)}\n${id(3)}|${issued(7)}|${issued(3)}\n`,
  )
  lines.set(2, issued(9))
  expect(read(lines.of(issued(8), [0, 1]))).toBe(`${id(3)}|${issued(8)}|${issued(9)}\n`)
  expect(lines.of(issued(8), [0, 1, 2])).toEqual({ count: 0, runs: [] })
})

test('What is of another width, or not by id, is refused and changes nothing', () => {
  const lines = createEpochLines(peers)
  const before = read(lines.of(issued(7), []))
  for (const text of ['', '2026', `${issued(1)}0`]) {
    expect(() => lines.set(0, text)).toThrow(RangeError)
    expect(() => lines.of(text, [])).toThrow(RangeError)
    expect(() => createEpochLines([...peers, { id: id(4), issued: text }])).toThrow(RangeError)
  }
  expect(read(lines.of(issued(7), []))).toBe(before)
  expect(() => createEpochLines(peers.toReversed())).toThrow(RangeError)
})
