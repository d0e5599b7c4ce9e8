import { describe, expect, it } from 'vitest'
import { cutPieces, slicesOf } from '../../../../src/server/backup/snapshot/row-slices.ts'

const table = { name: 'audit', columns: ['id', 'order'], key: ['id'], pages: 10, bytes: 81_920 }
const bytesOf = (texts: readonly string[]): Buffer[] => texts.map((text) => Buffer.from(text))
const cut = (texts: readonly string[], bytesMax: number) =>
  [...cutPieces(bytesOf(texts), bytesMax)].map(({ chunks, rows }) => [Buffer.concat(chunks).toString(), rows])

describe('statements that read a table', () => {
  it('are one, in the order of the key, for a small table', () => {
    expect(slicesOf(table)).toEqual(['copy (select "id", "order" from "audit" order by "id") to stdout'])
    expect(slicesOf({ ...table, key: [] })).toEqual(['copy (select "id", "order" from "audit") to stdout'])
  })

  it('are ranges of pages that touch and end behind the last page for a large one', () => {
    const slices = slicesOf({ ...table, pages: 1_000, bytes: 8_192_000 })
    const ranges = slices.map((text) => /'\((\d+),0\)' and ctid < '\((\d+),0\)'/.exec(text)?.slice(1).map(Number))
    expect(ranges[0]?.[0]).toBe(0)
    expect(ranges.at(-1)?.[1]).toBeGreaterThanOrEqual(1_000)
    ranges.slice(1).forEach((range, at) => expect(range?.[0]).toBe(ranges[at]?.[1]))
    expect(slices.length).toBe(4)
  })

  it('read one page each at least, however much is stored aside', () => {
    expect(slicesOf({ ...table, pages: 3, bytes: 2 ** 40 })).toHaveLength(3)
  })

  it('quote whatever a table is called', () => {
    expect(slicesOf({ ...table, name: 'a"b', columns: ['x'], key: [] })).toEqual([
      'copy (select "x" from "a""b") to stdout',
    ])
  })
})

describe('pieces of rows', () => {
  it('end between rows, below the bound', () => {
    expect(cut(['1\n', '22\n', '333\n', '4\n'], 6)).toEqual([
      ['1\n22\n', 2],
      ['333\n4\n', 2],
    ])
  })

  it('have a row that is longer than the bound alone', () => {
    expect(cut(['1\n', '123456789\n', '2\n'], 4)).toEqual([
      ['1\n', 1],
      ['123456789\n', 1],
      ['2\n', 1],
    ])
  })

  it('do not cut a row that came in parts, and count lines rather than parts', () => {
    expect(cut(['12', '34\n', '5\n6\n'], 3)).toEqual([
      ['1234\n', 1],
      ['5\n6\n', 2],
    ])
  })

  it('are none where there are no rows', () => {
    expect(cut([], 10)).toEqual([])
  })
})
