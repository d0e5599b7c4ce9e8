import { describe, expect, it } from 'vitest'
import { cutPieces, readPieces } from '../../../../src/server/backup/snapshot/row-slices.ts'
import type { Snapshot } from '../../../../src/server/ports/snapshot.ts'

const table = { name: 'audit', columns: ['id', 'order'], key: ['id'], pages: 10, bytes: 81_920 }
const bytesOf = (texts: readonly string[]): Buffer[] => texts.map((text) => Buffer.from(text))
const cut = (texts: readonly string[], bytesMax: number) =>
  [...cutPieces(bytesOf(texts), bytesMax)].map(({ chunks, rows }) => [Buffer.concat(chunks).toString(), rows])

/** A table whose rows are at these places `page,row`, each with so many bytes. Records every range that is asked for. */
function snapshotOf(rows: Readonly<Record<string, number>>) {
  const asked: string[] = []
  let held = 0
  const snapshot: Snapshot = {
    rows: async () => [],
    async copyOut(text, bytesMax) {
      asked.push(text)
      const [, fromPage, fromRow, toPage, toRow] =
        /'\((\d+),(\d+)\)' and ctid < '\((\d+),(\d+)\)'/.exec(text)?.map(Number) ?? []
      const isIn = (place: string): boolean => {
        const [page = 0, row = 0] = place.split(',').map(Number)
        if (fromPage === undefined || fromRow === undefined || toPage === undefined || toRow === undefined) return true
        const at = page * 10_000 + row
        return at >= fromPage * 10_000 + fromRow && at < toPage * 10_000 + toRow
      }
      const found = Object.entries(rows).filter(([place]) => isIn(place))
      const bytes = found.reduce((sum, [, length]) => sum + length, 0)
      if (bytes > bytesMax) return undefined
      if (found.length > 1) held = Math.max(held, bytes)
      return found.map(([place, length]) => Buffer.from(`${place.padEnd(length - 1, '.')}\n`))
    },
    close: async () => undefined,
  }
  return { snapshot, asked, heldMax: () => held }
}

async function read(snapshot: Snapshot, of: typeof table, bytesMax?: number): Promise<readonly string[]> {
  const places: string[] = []
  for await (const { chunks } of readPieces(snapshot, of, bytesMax))
    places.push(...chunks.map((chunk) => chunk.toString().replace(/\.*\n$/, '')))
  return places
}

describe('statements that read a table', () => {
  it('are one, in the order of the key, for a small table', async () => {
    const { snapshot, asked } = snapshotOf({ '0,1': 9 })
    await read(snapshot, table)
    await read(snapshot, { ...table, key: [] })
    expect(asked).toEqual([
      'copy (select "id", "order" from "audit" order by "id") to stdout',
      'copy (select "id", "order" from "audit") to stdout',
    ])
  })

  it('are ranges of pages for a large one, which together read every row once', async () => {
    const rows = Object.fromEntries(Array.from({ length: 1_000 }, (_, page) => [`${page},${1 + (page % 290)}`, 20]))
    const { snapshot, asked } = snapshotOf(rows)
    expect(await read(snapshot, { ...table, pages: 1_000, bytes: 8_192_000 })).toEqual(Object.keys(rows))
    expect(asked).toHaveLength(4)
  })

  it('read one page each at least, however much is stored aside', async () => {
    const { snapshot, asked } = snapshotOf({})
    await read(snapshot, { ...table, pages: 3, bytes: 2 ** 40 })
    expect(asked).toHaveLength(3)
  })

  it('are repeated in halves where the rows have too many bytes, down to one row, and become longer again', async () => {
    const narrow = Object.fromEntries(Array.from({ length: 400 }, (_, page) => [`${page},1`, 10]))
    const wide = Object.fromEntries(Array.from({ length: 8 }, (_, row) => [`100,${row + 2}`, 700]))
    const rows = Object.fromEntries(
      Object.entries({ ...narrow, ...wide, '200,1': 5_000 }).toSorted(
        ([a], [b]) => Number(a.replace(',', '.00')) - Number(b.replace(',', '.00')),
      ),
    )
    const { snapshot, asked, heldMax } = snapshotOf(rows)
    expect(await read(snapshot, { ...table, pages: 400, bytes: 8_192 * 400 }, 3_000)).toEqual(Object.keys(rows))
    expect(heldMax()).toBeLessThanOrEqual(3_000)
    expect(asked.length).toBeLessThan(200)
  })

  it('are ranges for a small table as well where its rows have too many bytes', async () => {
    const { snapshot, heldMax } = snapshotOf({ '0,1': 800, '0,2': 800, '1,1': 800 })
    expect(await read(snapshot, table, 1_000)).toEqual(['0,1', '0,2', '1,1'])
    expect(heldMax()).toBe(0)
  })

  it('quote whatever a table is called', async () => {
    const { snapshot, asked } = snapshotOf({})
    await read(snapshot, { ...table, name: 'a"b', columns: ['x'], key: [] })
    expect(asked).toEqual(['copy (select "x" from "a""b") to stdout'])
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
