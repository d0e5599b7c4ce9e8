import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { pageRange, type PagePosition } from '../../src/server/ports/page-range.ts'
import {
  byAlias,
  byAtDescending,
  byCreatedAt,
  byCreatedAtDescending,
  byId,
  byIdDescending,
  byKindAndId,
  byLogin,
  bySlug,
  type Keyset,
} from '../../src/server/sql/keyset.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'

const id = (digit: number) => `01935b5e-8f3a-7c61-9d0a-00000000000${digit}`

interface Item {
  readonly id: string
  readonly slug: string
  readonly alias: string
  readonly kind: string
  readonly login: string
  readonly created_at: Date
  readonly at: Date
}

/** Rows 2 and 3 are of one instant, and capital letters come first in the order of bytes. */
const ITEMS = sql<Item>`(
  select id::uuid, name collate "C" as slug, name collate "C" as alias, name collate "C" as login,
    left(name, 1) collate "C" as kind,
    created_at::timestamptz, created_at::timestamptz as at
  from (values
    (${sql.lit(id(1))}, 'b', '2026-03-01T08:00:00.001Z'),
    (${sql.lit(id(2))}, 'a', '2026-03-01T08:00:00.123Z'),
    (${sql.lit(id(3))}, 'B', '2026-03-01T08:00:00.123Z'),
    (${sql.lit(id(4))}, 'c', '2026-03-01T07:59:59.999Z'),
    (${sql.lit(id(5))}, 'a-b', '2026-03-02T00:00:00Z')
  ) as row (id, name, created_at))`.as<'items'>('items')

const ORDERS: readonly (readonly [order: string, keyset: Keyset<Item>, ids: readonly number[]])[] = [
  ['bySlug', bySlug, [3, 2, 5, 1, 4]],
  ['byAlias', byAlias, [3, 2, 5, 1, 4]],
  ['byLogin', byLogin, [3, 2, 5, 1, 4]],
  ['byKindAndId', byKindAndId, [3, 2, 5, 1, 4]],
  ['byId', byId, [1, 2, 3, 4, 5]],
  ['byIdDescending', byIdDescending, [5, 4, 3, 2, 1]],
  ['byCreatedAt', byCreatedAt, [4, 1, 2, 3, 5]],
  ['byCreatedAtDescending', byCreatedAtDescending, [5, 3, 2, 1, 4]],
  ['byAtDescending', byAtDescending, [5, 3, 2, 1, 4]],
]

describe.each(STORES)('A keyset on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    const inUse = useDatastore(store)
    const items = () => inUse.current().pool('interactive').selectFrom(ITEMS).selectAll('items')

    it.each(ORDERS)('%s sorts rows', async (_order, keyset, ids) => {
      const rows = await keyset.sorted(items()).execute()
      expect(rows.map((row) => row.id)).toEqual(ids.map(id))
    })

    it.each(ORDERS)('%s reads every row once, in pages of one and the row beyond it', async (_order, keyset, ids) => {
      const pages: string[][] = []
      for (let position: PagePosition | undefined; pages.length < ids.length;) {
        const rows = await keyset.page(items(), pageRange(position, 1)).execute()
        pages.push(rows.map((row) => row.id))
        const [row] = rows
        position = row && keyset.positionOf(row)
      }
      expect(pages).toEqual(ids.map((one, at) => [one, ...ids.slice(at + 1, at + 2)].map(id)))
    })

    it.each([
      ['of another length', ['2026-03-01T08:00:00.123Z']],
      ['whose instant is written in another form', ['1772352000123', id(1)]],
    ])('refuses a position %s', (_what, position) => {
      const read = () => byCreatedAt.page(items(), pageRange(position, 1))
      expect(read).toThrow(expect.objectContaining({ code: 'invalid_cursor' }))
    })
  })
})
