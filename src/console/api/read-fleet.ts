import type { Api } from './client.ts'
import type { Domain, NodeSummary } from './operations.ts'

const PAGE = 200
/** As many nodes as a Domain is meant to have at most. */
const PAGES_MAX = 50
const DOMAIN_PAGES_MAX = 5

/** Rows of a list from all of its pages, up to a bound. */
async function allPages<Row>(
  pagesMax: number,
  read: (
    cursor: string | undefined,
  ) => Promise<{ readonly items: readonly Row[]; readonly next_cursor?: string | null | undefined }>,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  let cursor: string | undefined
  for (let page = 0; page < pagesMax; page++) {
    // Each page names the next one.
    // oxlint-disable-next-line no-await-in-loop
    const { items, next_cursor: next } = await read(cursor)
    rows.push(...items)
    if (next === null || next === undefined) break
    cursor = next
  }
  return rows
}

/** All nodes of a Domain that the person may read, at most 10,000. */
export function readNodes(api: Api, domainId: string, signal: AbortSignal): Promise<readonly NodeSummary[]> {
  return allPages(PAGES_MAX, (cursor) =>
    api.call(
      'ListNodes',
      { domain_id: domainId, limit: String(PAGE), ...(cursor !== undefined && { cursor }) },
      signal,
    ),
  )
}

/** The Domains that the person may read, at most 1,000. */
export function readDomains(api: Api, signal: AbortSignal): Promise<readonly Domain[]> {
  return allPages(DOMAIN_PAGES_MAX, (cursor) =>
    api.call('ListDomains', { limit: String(PAGE), ...(cursor !== undefined && { cursor }) }, signal),
  )
}
