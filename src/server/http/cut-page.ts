import type { PagePosition } from './request-context.ts'

/** One page of rows as read, and where the next one starts. */
export interface RowPage<Row> {
  readonly rows: readonly Row[]
  readonly next: PagePosition | undefined
}

/**
 * Cuts a page from rows that were read one beyond its size: the extra row tells that more follow.
 * The position is that of the last row read, so that rows hidden from the caller are not read again (S0 convention 5).
 */
export function cutPage<Row>(
  read: readonly Row[],
  pageSize: number,
  positionOf: (row: Row) => PagePosition,
): RowPage<Row> {
  const rows = read.slice(0, pageSize)
  const last = rows.at(-1)
  return { rows, next: read.length > pageSize && last !== undefined ? positionOf(last) : undefined }
}
