import { openRange, type PagePosition, type PageRange } from '../ports/page-range.ts'
import type { RequestContext, Row } from './request-context.ts'

/** How a list answers from the rows that it reads. */
export interface ListOf<Stored, Item> {
  /** The position of a row in the order in which the list is read. */
  readonly positionOf: (stored: Stored) => PagePosition
  /** Where the contract has a `rows` gate: what fills its holes for a row. Rows that the caller may not see are left out. */
  readonly visible?: (stored: Stored) => Row
  /** What else a row must meet that the statement cannot decide. Asked of rows that the caller may see. */
  readonly matches?: (stored: Stored) => boolean | Promise<boolean>
  /** The row as the API shows it. */
  readonly toAnswer: (stored: Stored) => Item | Promise<Item>
}

export interface ListPage<Item> {
  readonly items: Item[]
  readonly next_cursor: string | null
}

/** Rows of a full page of the request. */
export function pageSizeOf({ pageRange }: Pick<RequestContext, 'pageRange'>): number {
  return openRange(pageRange).size
}

/**
 * Answers the page of a list that the request asks for. `read` reads one row beyond the page, as a `Keyset` does: that row
 * shows that another page follows. The cursor names the last row read, so that rows hidden from the caller are not read
 * again (S0 convention 5).
 */
export async function listPage<Stored, Item>(
  ctx: Pick<RequestContext, 'page' | 'pageRange' | 'visible'>,
  read: (range: PageRange) => Promise<readonly Stored[]>,
  { positionOf, visible, matches, toAnswer }: ListOf<Stored, Item>,
): Promise<ListPage<Item>> {
  const size = pageSizeOf(ctx)
  const found = await read(ctx.pageRange)
  const rows = found.slice(0, size)
  const last = rows.at(-1)
  const next = found.length > size && last !== undefined ? positionOf(last) : undefined
  const seen = visible === undefined ? rows : await ctx.visible(rows, visible)
  const shown = matches === undefined ? seen : await filterEach(seen, matches)
  return ctx.page(await Promise.all(shown.map((stored) => toAnswer(stored))), next)
}

/** Asks of one row after the other: at once, a page would ask the authorizer two hundred times. */
async function filterEach<Stored>(
  rows: readonly Stored[],
  matches: (stored: Stored) => boolean | Promise<boolean>,
): Promise<Stored[]> {
  const kept: Stored[] = []
  for (const row of rows) if (await matches(row)) kept.push(row)
  return kept
}
