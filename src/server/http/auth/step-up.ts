import { problem } from '../../../shared/problems.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import type { OperationPlan } from '../operation-plan.ts'

/**
 * Judges a caller by a named policy: the `acr` values of which one would do, or undefined where the caller satisfies it or
 * no such policy is configured.
 */
export type StepUp = (policy: string, caller: Caller) => readonly string[] | undefined

/**
 * Asks for the stronger sign-in that the operation's gate wants.
 *
 * @throws Problem `step_up_required` with the challenge of RFC 9470 §3.
 */
export function assertSteppedUp(
  { operation: { gate } }: OperationPlan,
  caller: Caller | undefined,
  stepUp: StepUp | undefined,
): void {
  if (gate.stepUp === undefined || caller === undefined) return
  const wanted = stepUp?.(gate.stepUp, caller)
  if (wanted === undefined) return
  const challenge = `Bearer error="insufficient_user_authentication", acr_values="${wanted.join(' ')}"`
  throw problem('step_up_required', { challenge, acr_values: wanted })
}
