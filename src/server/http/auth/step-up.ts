import { problem, type Problem } from '../../../shared/problems.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import type { OperationPlan } from '../operation-plan.ts'
import type { WantedSignIn } from './wanted-sign-in.ts'

/**
 * Checks a caller against a named policy: the required sign-in, or undefined where the caller satisfies the policy or no
 * such policy is configured. Asked only for operations whose gate names one.
 */
export type StepUp = (policy: string, caller: Caller) => WantedSignIn | undefined | Promise<WantedSignIn | undefined>

/**
 * Requires the stronger or more recent sign-in of the operation's gate. Answers with a promise only where the policy has
 * to be read.
 *
 * @throws Problem `step_up_required`
 */
export function assertSteppedUp(
  { operation: { gate } }: OperationPlan,
  caller: Caller | undefined,
  stepUp: StepUp | undefined,
): void | Promise<void> {
  if (gate.stepUp === undefined || caller === undefined) return undefined
  const wanted = stepUp?.(gate.stepUp, caller)
  return wanted instanceof Promise ? wanted.then(refuse) : refuse(wanted)
}

function refuse(wanted: WantedSignIn | undefined): void {
  if (wanted !== undefined) throw stepUpRequired(wanted)
}

/** The challenge of RFC 9470 §3; its `acr_values` and `max_age` are members of the problem too. */
export function stepUpRequired({ acrValues, maxAgeSeconds }: WantedSignIn): Problem {
  const parameters = [
    'error="insufficient_user_authentication"',
    ...(acrValues === undefined ? [] : [`acr_values="${acrValues.join(' ')}"`]),
    ...(maxAgeSeconds === undefined ? [] : [`max_age="${maxAgeSeconds}"`]),
  ]
  return problem('step_up_required', {
    challenge: `Bearer ${parameters.join(', ')}`,
    ...(acrValues !== undefined && { acr_values: acrValues }),
    ...(maxAgeSeconds !== undefined && { max_age: maxAgeSeconds }),
  })
}
