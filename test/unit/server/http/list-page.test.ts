import { describe, expect, it } from 'vitest'
import { listPage } from '../../../../src/server/http/list-page.ts'
import { pageRange, type PagePosition, type PageRange } from '../../../../src/server/ports/page-range.ts'

/** A request for a page of two rows by a caller who sees all rows except `hidden`. */
function request(hidden = '') {
  return {
    pageRange: pageRange(['before'], 2),
    visible: async <T>(rows: readonly T[], holes: (row: T) => { readonly [hole: string]: string }) =>
      rows.filter((row) => holes(row)['name'] !== hidden),
    page: <T>(items: T[], next: PagePosition | undefined) => ({ items, next_cursor: next?.join() ?? null }),
  }
}

const LIST = {
  positionOf: (row: string) => ['at', row],
  toAnswer: (row: string) => row.toUpperCase(),
}

describe('listPage', () => {
  it.each([
    ['nothing', [], { items: [], next_cursor: null }],
    ['fewer rows than a page', ['a'], { items: ['A'], next_cursor: null }],
    ['exactly a page', ['a', 'b'], { items: ['A', 'B'], next_cursor: null }],
    ['one row beyond the page', ['a', 'b', 'c'], { items: ['A', 'B'], next_cursor: 'at,b' }],
  ])('answers %s', async (_what, rows, page) => {
    expect(await listPage(request(), async () => rows, LIST)).toEqual(page)
  })

  it('reads the page that the request asks for', async () => {
    const asked: PageRange[] = []
    const ctx = request()
    await listPage(
      ctx,
      async (range) => {
        asked.push(range)
        return []
      },
      LIST,
    )
    expect(asked).toEqual([ctx.pageRange])
  })

  it('goes on after the last row read where the caller may not see it', async () => {
    const list = { ...LIST, visible: (name: string) => ({ name }) }
    const page = await listPage(request('b'), async () => ['a', 'b', 'c'], list)
    expect(page).toEqual({ items: ['A'], next_cursor: 'at,b' })
  })

  it('waits for answers that take their time', async () => {
    const list = { ...LIST, toAnswer: async (row: string) => Promise.resolve(`slow ${row}`) }
    expect(await listPage(request(), async () => ['a'], list)).toEqual({ items: ['slow a'], next_cursor: null })
  })

  it('leaves out rows that do not match, asking only of those that the caller may see, and goes on after all of them', async () => {
    const asked: string[] = []
    const list = {
      ...LIST,
      visible: (row: string) => ({ name: row }),
      matches: async (row: string) => asked.push(row) > 0 && row !== 'b',
    }
    expect(await listPage(request('a'), async () => ['a', 'b', 'c'], list)).toEqual({ items: [], next_cursor: 'at,b' })
    expect(asked).toEqual(['b'])
  })
})
