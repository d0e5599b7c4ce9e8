import type { TupleColumns } from '../../../src/shared/authz/tuple.ts'
import type { OracleSubject } from '../../support/authz/spicedb-oracle.ts'
import type { SchemaDraft } from './draft.ts'

export type Context = Readonly<Record<string, unknown>>

/** A tuple; references as `type:id`, `type:*` and `type:id#relation`. */
export interface FuzzTuple {
  readonly resource: string
  readonly relation: string
  readonly subject: string
  readonly caveat?: string
  readonly context?: Context
  readonly expires?: 'past' | 'future'
}

/** `subjects` of a lookup and `type` are types; `subjects` may name usersets, `group#member`. */
export type Query =
  | {
      readonly kind: 'check'
      readonly resource: string
      readonly permission: string
      readonly subject: string
      readonly context?: Context
    }
  | {
      readonly kind: 'resources'
      readonly type: string
      readonly permission: string
      readonly subject: string
      readonly context?: Context
    }
  | {
      readonly kind: 'subjects'
      readonly resource: string
      readonly permission: string
      readonly subjects: string
      readonly context?: Context
    }

/** A schema, the tuples under it and what is asked about them. */
export interface World {
  readonly schema: SchemaDraft
  readonly tuples: readonly FuzzTuple[]
  readonly queries: readonly Query[]
}

const EXPIRY = { past: Date.parse('2020-01-01T00:00:00Z'), future: Date.parse('2100-01-01T00:00:00Z') }

/** A reference in its parts; the last is empty without `#relation`. */
export function partsOf(reference: string): readonly [string, string, string] {
  const colon = reference.indexOf(':')
  const hash = reference.indexOf('#')
  const end = hash === -1 ? reference.length : hash
  return [reference.slice(0, colon), reference.slice(colon + 1, end), reference.slice(end + 1)]
}

/** The tuple in the columns of the registry. */
export function columnsOf(tuple: FuzzTuple): TupleColumns {
  const [resourceType, resourceId] = partsOf(tuple.resource)
  const [subjectType, subjectId, subjectRelation] = partsOf(tuple.subject)
  return {
    subject_type: subjectType,
    subject_id: subjectId,
    subject_relation: subjectRelation,
    relation: tuple.relation,
    resource_type: resourceType,
    resource_id: resourceId,
    caveat_name: tuple.caveat ?? '',
    domain_id: null,
    ...(tuple.context !== undefined && { caveat_context: tuple.context }),
    ...(tuple.expires !== undefined && { expires_at_ms: EXPIRY[tuple.expires] }),
  }
}

export function objectOf(reference: string): readonly [string, string] {
  const [type, id] = partsOf(reference)
  return [type, id]
}

export function subjectOf(reference: string): OracleSubject {
  const [type, id, relation] = partsOf(reference)
  return relation === '' ? [type, id] : [type, id, relation]
}
