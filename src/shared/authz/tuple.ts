/** A tuple in the columns of the registry, with the API's names. */
export interface TupleColumns {
  readonly subject_type: string
  /** `*` for a wildcard. */
  readonly subject_id: string
  /** Empty for a direct subject; `member` in `group:x#member`. */
  readonly subject_relation: string
  readonly relation: string
  readonly resource_type: string
  readonly resource_id: string
  /** Empty when the tuple has no caveat. */
  readonly caveat_name: string
  /** The tuple's Domain, whose settings its caveat reads; null for the platform's. */
  readonly domain_id: string | null
  /** Values that the tuple itself gives its caveat, which outrank all others; data of other origin has them, ours never. */
  readonly caveat_context?: Readonly<Record<string, unknown>>
  /** When the tuple stops counting, in milliseconds since 1970; absent for never. */
  readonly expires_at_ms?: number
}

/** Columns that identify a tuple, in the order of its canonical text. */
export const IDENTIFYING_COLUMNS = [
  'subject_type',
  'subject_id',
  'subject_relation',
  'relation',
  'resource_type',
  'resource_id',
  'caveat_name',
] as const satisfies readonly (keyof TupleColumns)[]

/** A tuple as references, without its caveat. */
export interface TupleReferences {
  /** `<type>:<id>` or `<type>:<id>#<relation>`. */
  readonly subject: string
  readonly relation: string
  /** `<type>:<id>`. */
  readonly resource: string
}

/** Joins the columns of a tuple to references. */
export function referencesOf(
  columns: Omit<TupleColumns, 'caveat_name' | 'domain_id' | 'caveat_context' | 'expires_at_ms'>,
): TupleReferences {
  const userset = columns.subject_relation === '' ? '' : `#${columns.subject_relation}`
  return {
    subject: `${columns.subject_type}:${columns.subject_id}${userset}`,
    relation: columns.relation,
    resource: `${columns.resource_type}:${columns.resource_id}`,
  }
}
