import { beginFault } from './faults.ts'
import type { Phase, Scenario } from './scenario.ts'
import type { Stage } from './stage.ts'

/** Plays the phases one after the other until the signal; what is left of a fault then ends with it. */
export async function playScenario(stage: Stage, { phases }: Scenario, until: AbortSignal): Promise<void> {
  for (const phase of phases) {
    if (until.aborted) return
    await playPhase(stage, phase, until)
  }
}

async function playPhase(stage: Stage, { durationMs, rates, faults }: Phase, until: AbortSignal): Promise<void> {
  const { standing, deps } = stage
  standing.rates = rates
  const ends = faults.map((fault) => beginFault(stage, fault))
  await deps.clock.pause(durationMs, until)
  for (const end of ends) end()
  standing.rates = {}
}
