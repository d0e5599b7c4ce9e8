import { UndecidableError } from '../engine/undecidable.ts'
import { explain } from '../engine/explain/explain.ts'
import { ContextError, missingUnder } from './conditions.ts'
import type { Questions } from './questions.ts'
import { nameOf } from './references.ts'
import { reasonsOf } from './reasons.ts'
import type { AssertionRun } from './run-assertions.ts'

/** Assertions of a file that are explained; a wrong policy fails them by the hundred, for the same few reasons. */
const EXPLAINED_MAX = 20

/** A `RangeError` is a stack that an expression of thousands of parts exhausts. */
const UNTELLABLE = [UndecidableError, ContextError, RangeError]

/** Says why assertions came out as they did, in lines; nothing beyond the first twenty of a file. */
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
      // The check was answered; only parts that the answer did not need cannot be explained.
      if (UNTELLABLE.some((kind) => error instanceof kind)) return []
      throw error
    }
  }
}
