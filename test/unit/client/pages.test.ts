import { describe, expect, it } from 'vitest'
import { pages, rows, type Page } from '../../../src/client/pages.ts'

async function collected<T>(generator: AsyncGenerator<T>): Promise<T[]> {
  const all: T[] = []
  for await (const one of generator) all.push(one)
  return all
}

function listing(answers: Readonly<Record<string, Page<number>>>) {
  const asked: (string | undefined)[] = []
  return {
    asked,
    list: async ({ cursor }: { cursor?: string }): Promise<Page<number>> => {
      asked.push(cursor)
      return answers[cursor ?? ''] ?? { items: [] }
    },
  }
}

describe('A list', () => {
  it.each([[{ items: [1], next_cursor: null }], [{ items: [1] }]])(
    'ends where %j names no further page',
    async (page) => {
      const { list, asked } = listing({ '': page })
      expect(await collected(rows(list, {}))).toEqual([1])
      expect(asked).toEqual([undefined])
    },
  )

  it('continues after short and empty pages', async () => {
    const { list, asked } = listing({
      '': { items: [], next_cursor: 'a' },
      a: { items: [1], next_cursor: 'b' },
      b: { items: [2, 3], next_cursor: null },
    })
    expect(await collected(rows(list, {}))).toEqual([1, 2, 3])
    expect(asked).toEqual([undefined, 'a', 'b'])
  })

  it('reads a page only when it is needed', async () => {
    const { list, asked } = listing({ '': { items: [1], next_cursor: 'a' } })
    for await (const page of pages(list, {})) {
      expect(page.items).toEqual([1])
      break
    }
    expect(asked).toEqual([undefined])
  })

  it('fails if the server repeats a cursor', async () => {
    const { list } = listing({ '': { items: [], next_cursor: 'a' }, a: { items: [], next_cursor: 'a' } })
    await expect(collected(rows(list, {}))).rejects.toMatchObject({ fault: 'unreadable' })
  })
})
