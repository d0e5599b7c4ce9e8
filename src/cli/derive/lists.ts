import { pages, type Page } from '../../client/pages.ts'
import type { CallInput } from '../../client/client.ts'
import type { ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { usageError } from '../errors/cli-error.ts'
import type { Session } from '../session/session.ts'

/** Rows shown when nothing is said (S0 convention 5). */
const USUAL_ROWS = 50
/** The most rows that one page has. */
export const PAGE_MAX = 200

/** Reads as many rows as asked for; a page may be short or empty without being the last. */
export async function readList(
  session: Session,
  operation: ManifestOperation,
  input: CallInput,
): Promise<Page<unknown>> {
  const wanted = wantedRows(session)
  const caller = await session.caller()
  session.expectOutput()
  const items: unknown[] = []
  const page = async (query: CallInput): Promise<Page<unknown>> => {
    return (await caller.call(operation, limited(query, wanted - items.length))).value as Page<unknown>
  }
  let next: string | null = null
  const what = operation.cli?.command.split(' ')[0] ?? 'rows'
  const progress = wanted > PAGE_MAX ? (await import('../output/progress.ts')).createProgress(session, what) : undefined
  for await (const { items: more, next_cursor } of pages(page, input)) {
    items.push(...more)
    progress?.at(items.length)
    next = next_cursor ?? null
    if (items.length >= wanted) break
  }
  progress?.end()
  return { items, next_cursor: next }
}

/** What the first page of a list is asked for with. */
export function firstPage(session: Session, input: CallInput): CallInput {
  return limited(input, wantedRows(session))
}

function limited(input: CallInput, rows: number): CallInput {
  return { ...input, limit: String(Math.min(PAGE_MAX, rows)) }
}

/** How many rows are asked for; Infinity for all. Throws a usage error for flags that exclude each other. */
export function wantedRows({ shared }: Session): number {
  if (shared.all === true && shared.limit !== undefined) throw usageError('--all and --limit exclude each other')
  if (shared.all === true) return Infinity
  const limit = shared.limit ?? USUAL_ROWS
  if (limit < 1) throw usageError('--limit must be at least 1')
  return limit
}

/** Says on stderr what stdout cannot: that there is nothing, that there is more, or that only a part was sorted. */
export function noteList(session: Session, { items, next_cursor }: Page<unknown>): void {
  if (next_cursor && session.shared.sort !== undefined)
    session.warn(`only the ${items.length} rows shown were sorted, and more exist: add --all to sort all of them`)
  else if (next_cursor) session.note(`${items.length} shown, more exist: add --all, or a higher --limit.`)
  else if (items.length === 0) session.note('Nothing to list.')
}
