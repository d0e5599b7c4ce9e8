import type { ListPage } from '../../http/list-page.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Candidates } from '../../labels/choose-driver.ts'
import { openRange } from '../../ports/page-range.ts'
import type { FewVisible, Sought } from './few-visible.ts'

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
 * A caller who sees most of what matches never pays for a lookup, and one who sees many objects beside them once in a while.
 */
export async function searchPage<Item>(
  ctx: RequestContext,
  { sought, fewVisible, read }: Searched<Item>,
): Promise<ListPage<Item>> {
  const remembered = fewVisible.remembered(ctx, sought)
  if (remembered === 'few') return read(await fewVisible.find(ctx, sought))
  const page = await read()
  const isShort = page.next_cursor !== null && page.items.length < openRange(ctx.pageRange).size * SHORT
  if (!isShort || remembered === 'many') return page
  const few = await fewVisible.find(ctx, sought)
  return few === undefined ? page : read(few)
}
