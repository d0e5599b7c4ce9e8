import { problem } from '../../../shared/problems.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import type { OperationPlan } from '../operation-plan.ts'

/** The sign-in that a policy requires. At least one member is there. */
export interface WantedSignIn {
  /** Accepted `acr` values; any value when absent. */
  readonly acrValues?: readonly string[]
  /** Maximum age of the sign-in, in seconds; any age when absent. */
  readonly maxAgeSeconds?: number
}

/**
 * Checks a caller against a named policy: the required sign-in, or undefined where the caller satisfies the policy or no
 * such policy is configured.
 */
export type StepUp = (policy: string, caller: Caller) => WantedSignIn | undefined

/**
 * Requires the stronger or more recent sign-in of the operation's gate.
 *
 * @throws Problem `step_up_required` with the challenge of RFC 9470 §3, whose `acr_values` and `max_age` are members of the
 *   problem too.
 */
export function assertSteppedUp(
  { operation: { gate } }: OperationPlan,
  caller: Caller | undefined,
  stepUp: StepUp | undefined,
): void {
  if (gate.stepUp === undefined || caller === undefined) return
  const wanted = stepUp?.(gate.stepUp, caller)
  if (wanted === undefined) return
  const { acrValues, maxAgeSeconds } = wanted
  const parameters = [
    'error="insufficient_user_authentication"',
    ...(acrValues === undefined ? [] : [`acr_values="${acrValues.join(' ')}"`]),
    ...(maxAgeSeconds === undefined ? [] : [`max_age="${maxAgeSeconds}"`]),
  ]
  throw problem('step_up_required', {
    challenge: `Bearer ${parameters.join(', ')}`,
    ...(acrValues !== undefined && { acr_values: acrValues }),
    ...(maxAgeSeconds !== undefined && { max_age: maxAgeSeconds }),
  })
}
