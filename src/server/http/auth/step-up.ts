import { problem } from '../../../shared/problems.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import type { OperationPlan } from '../operation-plan.ts'

/** The sign-in that a policy wants. At least one member is there. */
export interface WantedSignIn {
  /** `acr` values of which one would do; any will where it is absent. */
  readonly acrValues?: readonly string[]
  /** How long ago the person may have signed in, in seconds; any time where it is absent. */
  readonly maxAgeSeconds?: number
}

/**
 * Judges a caller by a named policy: the sign-in that would do, or undefined where the caller satisfies the policy or no
 * such policy is configured.
 */
export type StepUp = (policy: string, caller: Caller) => WantedSignIn | undefined

/**
 * Asks for the stronger or more recent sign-in that the operation's gate wants.
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
