/** Sort key of the last row of a page, as text; the edge encrypts it into the cursor. */
export type PagePosition = readonly string[]

const OPENED = Symbol('page range')

/**
 * Which page of a list to read. A handler passes it to its store and the store to a `Keyset` (`sql/keyset.ts`), which
 * alone reads it: a store cannot page in any other way.
 */
export interface PageRange {
  readonly [OPENED]: OpenedPageRange
}

export interface OpenedPageRange {
  /** Where the page before ends; undefined on the first page. */
  readonly position: PagePosition | undefined
  /** Rows of the page. */
  readonly size: number
}

/** Makes the range of the page of `size` rows that follows the position. */
export function pageRange(position: PagePosition | undefined, size: number): PageRange {
  return { [OPENED]: { position, size } }
}

/** Opens a range, for the edge and for keysets. */
export function openRange(range: PageRange): OpenedPageRange {
  return range[OPENED]
}
