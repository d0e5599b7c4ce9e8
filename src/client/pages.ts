import { TransportFailure } from './failures.ts'

/** The answer of every list (S0 convention 5). */
export interface Page<T> {
  readonly items: readonly T[]
  readonly next_cursor?: string | null | undefined
}

/**
 * Follows `next_cursor` to the end of a list. A page shorter than its limit is not the end, because the server filters rows
 * after it has read them.
 *
 * @throws TransportFailure if the server repeats a cursor, because the list would never end.
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

/** Yields the rows of all pages of a list. */
export async function* rows<I extends object, T>(
  list: (input: I & { cursor?: string }) => Promise<Page<T>>,
  input: I,
): AsyncGenerator<T, void, void> {
  for await (const page of pages(list, input)) yield* page.items
}
