import type { StepUp } from '../../http/auth/step-up.ts'
import { lackedBy, type WantedSignIn } from '../../http/auth/wanted-sign-in.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { StepUpPolicies } from '../../ports/tables/tenancy.ts'

export interface StepUpDeps {
  readonly datastore: Datastore
  readonly clock: Clock
  /** The `acr` values that Domains need which say nothing of their own; none: no step-up there. */
  readonly acrByDefault: readonly string[]
}

/**
 * Checks callers against the policies of their own Domain, whose provider gives the `acr` values their meaning. They are read
 * at each such call: those are rare, and a policy holds as soon as it is written.
 */
export function createStepUp({ datastore, clock, acrByDefault }: StepUpDeps): StepUp {
  const byDefault = acrByDefault.length === 0 ? undefined : { acrValues: acrByDefault }

  return async (policy, caller) => {
    const row = await datastore
      .pool('interactive')
      .selectFrom('domains')
      .select('step_up')
      .where('id', '=', caller.domainId)
      .executeTakeFirst()
    const wanted = wantedOf(row?.step_up, policy) ?? byDefault
    return wanted && lackedBy(caller, wanted, clock.now())
  }
}

function wantedOf(policies: StepUpPolicies = {}, policy: string): WantedSignIn | undefined {
  const [, found] = Object.entries(policies).find(([name]) => name === policy) ?? []
  if (found === undefined) return undefined
  const { acr_values: acrValues, max_age: maxAgeSeconds } = found
  return { acrValues, ...(maxAgeSeconds !== undefined && { maxAgeSeconds }) }
}
