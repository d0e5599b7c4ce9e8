import type { signingKeys } from '../../../src/shared/contract/signing-keys.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** Scenarios of the operations on signing keys. */
export const signingKeyScenarios: Scenarios<World, typeof signingKeys> = {
  GetSigningKeys: () => ({ input: { include: 'expired' } }),
  PostSigningKeysRotate: ({ root, nobody }) => ({ input: {}, as: root, lesser: nobody }),
}
