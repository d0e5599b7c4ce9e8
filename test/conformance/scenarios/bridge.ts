import type { bridge } from '../../../src/shared/contract/bridge.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** Scenarios of bridges. */
export const bridgeScenarios = {} as Scenarios<World, typeof bridge>
