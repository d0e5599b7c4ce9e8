import type { rollouts } from '../../../src/shared/contract/rollouts.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** To be written. */
export const rolloutScenarios = {} as Scenarios<World, typeof rollouts>
