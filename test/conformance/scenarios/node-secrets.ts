import type { nodeSecrets } from '../../../src/shared/contract/node-secrets.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** Scenarios of the secrets of nodes. */
export const nodeSecretScenarios = {} as Scenarios<World, typeof nodeSecrets>
