import { UndecidableError } from '../engine/undecidable.ts'
import { explain } from '../engine/explain/explain.ts'
import { ContextError, missingUnder } from './conditions.ts'
import type { Questions } from './questions.ts'
import { nameOf } from './references.ts'
import { reasonsOf } from './reasons.ts'
import type { AssertionRun } from './run-assertions.ts'

/** Maximum of explained assertions in one file: a wrong policy fails hundreds of them for the same few reasons. */
const EXPLAINED_MAX = 20

/**
 * Errors of an explanation that is not possible. An expression with thousands of parts exhausts the stack: RangeError.
 */
const UNEXPLAINABLE = [UndecidableError, ContextError, RangeError]

/** Explains the results of assertions, in lines. Only the first twenty of a file are explained. */
export function createExplainer(questions: Questions): AssertionRun['explain'] {
  let left = EXPLAINED_MAX
  return ({ relationship: { resource, subject }, context }, holds, expected) => {
    if (left-- <= 0) return []
    const { relation } = resource
    const asking = { subject: nameOf(subject), relation, resource: nameOf({ ...resource, relation: '' }) }
    const options = { holds, missing: missingUnder(context), mayBind: () => true }
    try {
      const explained = explain(questions, asking, options)
      return 'reason' in explained ? [] : reasonsOf(explained, expected)
    } catch (error) {
      // The check was answered; a part that the answer did not need cannot be explained.
      if (UNEXPLAINABLE.some((kind) => error instanceof kind)) return []
      throw error
    }
  }
}
