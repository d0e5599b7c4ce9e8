import { createSealedKeys } from '../../../src/server/adapters/sealed-signer/sealed-keys.ts'
import { openSignerOver, type FollowingSigner } from '../../../src/server/adapters/signing-keys/open-signer.ts'
import type { Clock } from '../../../src/server/ports/clock.ts'
import type { Datastore } from '../../../src/server/ports/datastore.ts'
import type { Sealing } from '../../../src/server/ports/keyring.ts'

interface SealedSignerDeps {
  readonly datastore: Datastore
  readonly sealing: Sealing
  readonly clock: Clock
}

/** Opens a signer whose keys are sealed in the datastore, as a server without a signer of its own does. */
export function openSigner({ datastore, sealing, clock }: SealedSignerDeps): Promise<FollowingSigner> {
  return openSignerOver({ datastore, clock, source: createSealedKeys(sealing), former: [], isMoving: false })
}
