import type { integrity } from '../../../src/shared/contract/integrity.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** To be written. */
export const integrityScenarios = {} as Scenarios<World, typeof integrity>
