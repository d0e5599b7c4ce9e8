import type { ConditionVerdict } from '../../../src/shared/authz/engine/checker.ts'
import { NO, UNKNOWN, YES } from '../../../src/shared/authz/engine/verdict.ts'
import type { Context } from './world.ts'

/** How far conditions hold now under the values of a question. */
export function conditionsUnder(_: Context): ConditionVerdict {
  const nowMs = Date.now()
  return ({ caveat, expiresAtMs }) => (expiresAtMs <= nowMs ? NO : caveat === undefined ? YES : UNKNOWN)
}
