import { problem, type Problem } from '../problems.ts'
import { findRule } from './find-rule.ts'
import { parseTupleReference } from './reference.ts'
import { SERVICE_MODEL } from './service-model.ts'
import type { TupleColumns } from './tuple.ts'

/** A tuple as callers write it, with the API's names. */
export interface WrittenTuple {
  /** `<type>:<id>`, `<type>:*` or `<type>:<id>#<relation>`. */
  readonly subject: string
  readonly relation: string
  /** `<type>:<id>`. */
  readonly resource: string
  readonly caveatName?: string
}

/** The part of a tuple that is refused, and why. */
export interface TripleRefusal {
  readonly part: 'subject' | 'relation' | 'resource' | 'caveat'
  readonly reason: keyof typeof SENTENCES
}

const SENTENCES = {
  malformed: 'is not a reference of the documented form',
  unknown: 'names something that the schema does not have',
  not_allowed: 'is not allowed in this relation',
  structural: 'is a parent edge, which only the service writes',
  cycle: 'would make the group a member of itself',
  too_deep: 'would nest groups deeper than 40',
  second_caveat: 'would be the second caveat of one binding, and SpiceDB keeps one',
} as const

const POINTERS = {
  subject: '/subject',
  relation: '/relation',
  resource: '/resource',
  caveat: '/caveat_context',
} as const

/** The problem `invalid_triple` that says which part is wrong and why (decisions: the tuple API). */
export function invalidTriple({ part, reason }: TripleRefusal): Problem {
  return problem('invalid_triple', { part, reason, errors: [{ pointer: POINTERS[part], detail: SENTENCES[reason] }] })
}

/**
 * Parses a tuple into the columns of the registry and holds it against the schema.
 * `structural`: the service writes the parent edge of a new object; nobody else may, and it may write nothing else so.
 * @throws Problem `invalid_triple`, naming the part, unless the schema has the tuple's type, relation and caveat and takes
 * its subject there.
 */
export function validateTuple(tuple: WrittenTuple, options: { structural: boolean }): Omit<TupleColumns, 'domain_id'> {
  const columns = columnsOf(tuple)
  const found = findRule(SERVICE_MODEL, { ...columns, domain_id: null })
  if ('reason' in found) throw invalidTriple(found)
  if (found.relation.structural === options.structural) return columns
  if (!options.structural) throw invalidTriple({ part: 'relation', reason: 'structural' })
  throw new Error(`${columns.resource_type}#${columns.relation} is not structural`)
}

function columnsOf(tuple: WrittenTuple): Omit<TupleColumns, 'domain_id'> {
  const subject = parseTupleReference(tuple.subject)
  if (subject === undefined) throw invalidTriple({ part: 'subject', reason: 'malformed' })
  const resource = parseTupleReference(tuple.resource)
  if (resource === undefined || resource.relation !== '' || resource.id === '*') {
    throw invalidTriple({ part: 'resource', reason: 'malformed' })
  }
  return {
    subject_type: subject.type,
    subject_id: subject.id,
    subject_relation: subject.relation,
    relation: tuple.relation,
    resource_type: resource.type,
    resource_id: resource.id,
    caveat_name: tuple.caveatName ?? '',
  }
}
