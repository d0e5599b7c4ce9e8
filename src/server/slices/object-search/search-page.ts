import { pageSizeOf, type ListPage } from '../../http/list-page.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Candidates } from '../../labels/choose-driver.ts'
import type { FewVisible, LookedUp, Sought } from './few-visible.ts'

interface Searched<Item> {
  readonly sought: Sought
  readonly fewVisible: FewVisible
  /** Reads the page of the request and checks each of its rows. Of the candidates only, where these are given. */
  readonly read: (among?: Candidates) => Promise<ListPage<Item>>
}

/** A page that shows less than this part of its rows, while another follows, is a reason to look up what the caller may see. */
const SHORT = 0.5

/**
 * Reads a page of a search in one of two ways: the matching objects, those left out that the caller may not see, or only what the
 * caller may see, where that is little. Both read in the same order, check each row, and show everything up to the last row
 * that they read. So each page may be read in either way.
 *
 * A search that shows nothing because the engine is out of reach fails. A caller who sees most of what matches never pays for
 * a lookup; one who sees little of it, and many other objects, pays for one a minute.
 */
export async function searchPage<Item>(
  ctx: RequestContext,
  { sought, fewVisible, read }: Searched<Item>,
): Promise<ListPage<Item>> {
  const remembered = fewVisible.remembered(ctx, sought)
  const first = remembered === 'few' ? await fewVisible.find(ctx, sought) : NOTHING
  if (first.few !== undefined) return read(first.few)
  const page = await read()
  const isWorthIt = remembered === undefined && isShort(page, ctx)
  const { few, outage } = isWorthIt ? await fewVisible.find(ctx, sought) : first
  if (few !== undefined) return read(few)
  // In an outage, checks may answer from memory; lookups never do (S1 Degradation 2).
  if (outage !== undefined && page.items.length === 0) throw outage
  return page
}

const NOTHING: LookedUp = {}

function isShort({ items, next_cursor: next }: ListPage<unknown>, ctx: RequestContext): boolean {
  return next !== null && items.length < pageSizeOf(ctx) * SHORT
}
