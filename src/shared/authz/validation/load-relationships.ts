import { findRule } from '../find-rule.ts'
import type { CaveatModel, Model } from '../model.ts'
import type { TupleColumns } from '../tuple.ts'
import { ContextError, requireKnown } from './conditions.ts'
import { describeMismatch } from './describe-mismatch.ts'
import type { Failure } from './failure.ts'
import { parseRelationship, type Relationship } from './parse-relationship.ts'
import { nameOf } from './references.ts'
import type { SourceText } from './source-map.ts'
import { TextFault } from './text-fault.ts'

/** Maximum of faults reported for one file: with a wrong schema every relationship is one. */
const FAULTS_MAX = 20

/** The valid relationships of a file, in its order. */
export interface LoadedRelationships {
  readonly relationships: readonly Relationship[]
  readonly faults: readonly Omit<Failure, 'file'>[]
}

/**
 * Reads relationships, one in a line. Skips empty lines and lines that begin with `//`. Checks each against the schema.
 * A relationship may occur once, whatever its caveat and expiration.
 */
export function loadRelationships(model: Model, block: SourceText | undefined): LoadedRelationships {
  const relationships: Relationship[] = []
  const faults: Omit<Failure, 'file'>[] = []
  const seen = new Set<string>()
  for (const [index, line] of (block?.text ?? '').split('\n').entries()) {
    const text = line.trim()
    if (block === undefined || text === '' || text.startsWith('//')) continue
    const indent = line.length - line.trimStart().length
    try {
      relationships.push(readOne(model, text, seen))
    } catch (error) {
      if (!(error instanceof TextFault)) throw error
      const at = block.locate({ line: index + 1, column: indent + error.offset + 1 })
      faults.push({ ...at, kind: 'relationship', text, message: error.message, because: [] })
      if (faults.length === FAULTS_MAX) break
    }
  }
  return { relationships, faults }
}

function readOne(model: Model, text: string, seen: Set<string>): Relationship {
  const relationship = parseRelationship(text)
  const name = `${nameOf(relationship.resource)}@${nameOf(relationship.subject)}`
  if (seen.has(name)) throw new TextFault(0, `expected each relationship once, found ${name} again`)
  seen.add(name)
  const found = findRule(model, columnsOf(relationship))
  if ('reason' in found) throw describeMismatch(model, relationship, found)
  requireContext(found.rule.caveat, relationship)
  return relationship
}

function requireContext(caveat: CaveatModel | undefined, { context, offsets }: Relationship): void {
  if (caveat === undefined || context === undefined) return
  try {
    requireKnown(caveat, context)
  } catch (error) {
    throw error instanceof ContextError ? new TextFault(offsets.caveat, error.message) : error
  }
}

/** The relationship as columns of a stored tuple. */
export function columnsOf({ resource, subject, caveat, context, expiresAtMs }: Relationship): TupleColumns {
  return {
    subject_type: subject.type,
    subject_id: subject.id,
    subject_relation: subject.relation,
    relation: resource.relation,
    resource_type: resource.type,
    resource_id: resource.id,
    caveat_name: caveat,
    domain_id: null,
    ...(context !== undefined && { caveat_context: context }),
    ...(expiresAtMs !== undefined && { expires_at_ms: expiresAtMs }),
  }
}
