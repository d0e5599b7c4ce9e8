import type { Caller } from '../../../client/client.ts'
import { pages, type Page } from '../../../client/pages.ts'
import type { ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import { memberOf } from '../../output/members.ts'

type Input = Readonly<Record<string, unknown>>

/** What came since the look before. */
export interface News {
  /** The oldest first. */
  readonly rows: readonly unknown[]
  /** There was more than one look takes in. */
  readonly isPartial: boolean
}

export interface FollowDeps {
  readonly caller: Caller
  readonly operation: ManifestOperation
  readonly input: Input
  /** Sent with every look; rows about the looks themselves carry it, and are left out. */
  readonly correlationId: string
}

/** Rows become visible up to about this long after the time that they bear; a look goes back so far. */
const LATE_MS = 2_000
const PAGE = '200'
/** Rows that one look takes in. */
const ROWS_MAX = 10_000

/** Looks for rows that were not there before. The server's time alone counts: that of this machine may be another. */
export interface RowFollower {
  /** Takes note of the newest row, so that only later ones are news; without it the first look shows all from `since` on. */
  begin(): Promise<void>
  look(): Promise<News>
}

/** Makes the follower of a list that has the newest rows first. */
export function createRowFollower({ caller, operation, input, correlationId }: FollowDeps): RowFollower {
  /** When the rows shown within reach of the next look were written, by id. */
  const seen = new Map<string, number>()
  let newestMs: number | undefined

  async function page(query: Input): Promise<Page<unknown>> {
    // A list answers a page.
    return (await caller.call(operation, query, { correlationId })).value as Page<unknown>
  }

  function take(row: unknown): boolean {
    const [id, at] = [textOf(row, 'id'), Date.parse(textOf(row, 'at'))]
    if (seen.has(id)) return false
    seen.set(id, at)
    newestMs = Math.max(newestMs ?? at, at)
    return textOf(row, 'correlation_id') !== correlationId
  }

  function forget(): void {
    const reach = (newestMs ?? 0) - LATE_MS
    for (const [id, at] of seen) if (at < reach) seen.delete(id)
  }

  async function look(): Promise<News> {
    const since = newestMs === undefined ? {} : { since: new Date(newestMs - LATE_MS).toISOString() }
    const found: unknown[] = []
    for await (const { items } of pages(page, { ...input, ...since, limit: PAGE })) {
      found.push(...items)
      if (found.length >= ROWS_MAX) break
    }
    // Only now: had a page failed, the next look would have to show all of them.
    const rows = found.filter(take).toReversed()
    forget()
    return { rows, isPartial: found.length >= ROWS_MAX }
  }

  return {
    look,
    async begin() {
      const { items } = await page({ ...input, limit: '1' })
      items.forEach(take)
      if (items.length > 0) await look()
    },
  }
}

function textOf(row: unknown, member: string): string {
  const value = memberOf(row, member)
  return typeof value === 'string' ? value : ''
}
