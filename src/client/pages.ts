import { TransportFailure } from './failures.ts'

/** What every list answers (S0 convention 5). */
export interface Page<T> {
  readonly items: readonly T[]
  readonly next_cursor?: string | null | undefined
}

/**
 * Follows `next_cursor` to the end of a list. A page shorter than its limit is not the end: rows may have been filtered
 * out after it was read. Throws `TransportFailure` when the server repeats a cursor, which would never end.
 */
export async function* pages<I extends object, P extends Page<unknown>>(
  list: (input: I & { cursor?: string }) => Promise<P>,
  input: I,
): AsyncGenerator<P, void, void> {
  let cursor: string | undefined
  do {
    const page = await list(cursor === undefined ? input : { ...input, cursor })
    yield page
    const next = page.next_cursor ?? undefined
    if (next !== undefined && next === cursor) throw new TransportFailure('unreadable', 'the list repeats its cursor')
    cursor = next
  } while (cursor !== undefined)
}

/** The rows of a list, page by page behind the scenes. */
export async function* rows<I extends object, T>(
  list: (input: I & { cursor?: string }) => Promise<Page<T>>,
  input: I,
): AsyncGenerator<T, void, void> {
  for await (const page of pages(list, input)) yield* page.items
}
