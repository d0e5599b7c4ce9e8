import { ineligibilityOf, type UpgradeTarget } from '../../releases/upgrade-target.ts'
import { countIn } from './rollout.ts'
import type { RolloutRecord } from './store.ts'

/** What a running rollout does next. */
export type NextStep =
  | { readonly does: 'halt'; readonly reason: string }
  | { readonly does: 'complete' }
  /** Upgrades nodes of the wave. */
  | { readonly does: 'upgrade'; readonly wave: number }

/** Decides by the failures first: a last node that fails beyond the limit does not complete the rollout. */
export function nextStep(
  { progress, max_failures: failuresMax }: Pick<RolloutRecord, 'progress' | 'max_failures'>,
  target: UpgradeTarget | undefined,
): NextStep {
  const failures = countIn(progress, 'failed')
  if (failures > failuresMax)
    return { does: 'halt', reason: `${failures} of the nodes failed, and ${failuresMax} may fail.` }
  const current = progress.find((wave) => countIn([wave], 'pending', 'upgrading', 'soaking') > 0)
  if (current === undefined) return { does: 'complete' }
  const reason = ineligibilityOf(target)
  if (reason !== undefined) return { does: 'halt', reason: `The nodes cannot be upgraded: ${reason}.` }
  return { does: 'upgrade', wave: current.wave }
}
