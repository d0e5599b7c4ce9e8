import { findRule, type Mismatch } from '../../find-rule.ts'
import type { TupleEdit } from '../../impact.ts'
import type { Model } from '../../model.ts'
import { isObjectId } from '../../reference.ts'
import type { TupleColumns } from '../../tuple.ts'
import { NONE } from '../edge-chains.ts'
import type { Condition } from '../edge-conditions.ts'
import { indexNesting, nestingFault } from '../nesting.ts'
import type { TupleIndex } from '../tuple-index.ts'

/** Why a tuple could not be written, and for which part. */
export interface EditFault {
  readonly part: Mismatch['part']
  readonly reason: Mismatch['reason'] | 'malformed' | 'structural' | 'cycle' | 'too_deep'
}

/** The revision of tuples that are only tried. */
const UNWRITTEN = 0

export interface TrialDeps {
  readonly model: Model
  readonly index: TupleIndex
}

/**
 * Makes the edits in the index, calls `ask`, and reverts them before it returns, also when `ask` throws: nobody else sees
 * them, as long as `ask` does not wait. Creating an existing tuple and deleting a missing one change nothing. Rows
 * of objects, sets and edges that only edited tuples use may have other numbers afterwards.
 * @returns why the first edit that could not be written is refused; then nothing was asked.
 */
export function tryEdits<T>(
  deps: TrialDeps,
  edits: readonly TupleEdit[],
  ask: () => T,
): { readonly answer: T } | EditFault {
  const undo: (() => void)[] = []
  try {
    for (const edit of edits) {
      const fault = faultOf(deps, edit)
      if (fault !== undefined) return fault
      undo.push(make(deps, edit))
    }
    return { answer: ask() }
  } finally {
    for (const takeBack of undo.toReversed()) takeBack()
  }
}

/** As `tryEdits`, for edits of which each could be written, in whatever order. */
export function withEdits<T>(deps: TrialDeps, edits: readonly TupleEdit[], ask: () => T): T {
  const undo: (() => void)[] = []
  try {
    for (const edit of edits) undo.push(make(deps, edit))
    return ask()
  } finally {
    for (const takeBack of undo.toReversed()) takeBack()
  }
}

function faultOf({ model, index }: TrialDeps, { op, tuple }: TupleEdit): EditFault | undefined {
  const found = findRule(model, tuple)
  if ('reason' in found) return found
  if (found.relation.structural) return { part: 'relation', reason: 'structural' }
  if (!isObjectId(tuple.resource_id)) return { part: 'resource', reason: 'malformed' }
  if (tuple.subject_id !== '*' && !isObjectId(tuple.subject_id)) return { part: 'subject', reason: 'malformed' }
  const nesting = op === 'create' ? nestingFault(model, indexNesting(model, index, []), tuple) : undefined
  return nesting && { part: 'subject', reason: nesting }
}

/** Makes one edit. @returns the function that reverts it. */
function make({ model, index }: TrialDeps, { op, tuple }: TupleEdit): () => void {
  const before = storedTuple(model, index, tuple)
  if (op === 'create') index.touch(tuple, before?.revision ?? UNWRITTEN)
  else if (before !== undefined) index.remove(before.tuple)
  return () => {
    if (before !== undefined) index.touch(before.tuple, before.revision)
    else if (op === 'create') index.remove(tuple)
  }
}

interface StoredTuple {
  readonly tuple: TupleColumns
  readonly revision: number
}

/** The tuple of the same names and caveat as the index holds it. */
function storedTuple(model: Model, index: TupleIndex, tuple: TupleColumns): StoredTuple | undefined {
  const edge = findEdge(model, index, tuple)
  if (edge === NONE) return undefined
  const { caveat_context: _, expires_at_ms: __, ...bare } = tuple
  const alternatives = index.conditions.of(edge)
  if (alternatives === undefined) {
    return tuple.caveat_name === '' ? { tuple: bare, revision: index.conditions.firstRevision(edge) } : undefined
  }
  const held = alternatives.conditions.find(({ caveat }) => (caveat?.name ?? '') === tuple.caveat_name)
  if (held !== undefined) return { tuple: { ...bare, ...valuesOf(held) }, revision: held.revision }
  const isPlain = tuple.caveat_name === '' && alternatives.unconditional
  return isPlain ? { tuple: bare, revision: alternatives.revision } : undefined
}

function valuesOf({ context, expiresAtMs, domainId }: Condition): Partial<TupleColumns> {
  return {
    domain_id: domainId,
    ...(context && { caveat_context: context }),
    ...(expiresAtMs < Infinity && { expires_at_ms: expiresAtMs }),
  }
}

function findEdge(model: Model, { objects, sets, edges }: TupleIndex, tuple: TupleColumns): number {
  const found = findRule(model, tuple)
  if ('reason' in found) return NONE
  const { resourceType, relation, rule } = found
  const set = sets.find(objects.find(resourceType.index, tuple.resource_id, 0), relation.id)
  const object = objects.find(rule.type.index, tuple.subject_id, 0)
  const subject = rule.relation === undefined ? object << 1 : (sets.find(object, rule.relation.id) << 1) | 1
  return edges.find(set, subject)
}
