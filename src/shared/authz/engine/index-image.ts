/**
 * What an index holds, as plain columns that can be kept in a file: tables as they are in memory, from which only the
 * slots are rebuilt. An image belongs to the schema that the index was filled under.
 */
export interface IndexImage {
  readonly objects: Int32Array
  readonly sets: Int32Array
  readonly edges: Int32Array
  /** By edge. */
  readonly revisions: Uint32Array
  /** Objects whose ids are no UUIDs. */
  readonly names: readonly (readonly [object: number, id: string])[]
  readonly conditions: readonly EdgeImage[]
}

/** The tuples of an edge that has conditions. */
export interface EdgeImage {
  readonly edge: number
  /** Revision of the tuple without a condition; absent where there is none. */
  readonly plain?: number
  readonly conditions: readonly ConditionImage[]
}

export interface ConditionImage {
  /** Absent for a tuple that only expires. */
  readonly caveat?: string
  readonly domainId: string | null
  readonly context?: Readonly<Record<string, unknown>>
  /** Absent for never. */
  readonly expiresAtMs?: number
  readonly revision: number
}

/** The image is not one of this schema, or is damaged. */
export class ImageError extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'ImageError'
  }
}
