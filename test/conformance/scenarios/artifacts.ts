import type { artifacts } from '../../../src/shared/contract/artifacts.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** To be written. */
export const artifactScenarios = {} as Scenarios<World, typeof artifacts>
