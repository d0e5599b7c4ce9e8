import { startFault } from './faults.ts'
import type { Phase, Scenario } from './scenario.ts'
import type { Stage } from './stage.ts'

/** Runs the phases in order until the signal is aborted. The faults of the running phase end with it. */
export async function playScenario(stage: Stage, { phases }: Scenario, until: AbortSignal): Promise<void> {
  for (const phase of phases) {
    if (until.aborted) return
    await playPhase(stage, phase, until)
  }
}

async function playPhase(stage: Stage, { durationMs, rates, faults }: Phase, until: AbortSignal): Promise<void> {
  const { phaseState, deps } = stage
  phaseState.rates = rates
  const ends = faults.map((fault) => startFault(stage, fault))
  await deps.clock.pause(durationMs, until)
  for (const end of ends) end()
  phaseState.rates = {}
}
