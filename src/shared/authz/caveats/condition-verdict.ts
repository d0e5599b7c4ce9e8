import type { ConditionVerdict } from '../engine/question.ts'
import { NO, YES } from '../engine/verdict.ts'
import { compileCaveat } from './caveat-program.ts'

/** Evaluates conditions at an instant with given context values (validation files, tests): expiry, then tuple context over `context`. */
export function conditionVerdict(given: {
  readonly nowMs: number
  readonly context: Readonly<Record<string, unknown>>
}): ConditionVerdict {
  return ({ caveat, context, expiresAtMs }) => {
    if (expiresAtMs <= given.nowMs) return NO
    if (caveat === undefined) return YES
    return compileCaveat(caveat).evaluate(context === undefined ? given.context : { ...given.context, ...context })
      .verdict
  }
}
