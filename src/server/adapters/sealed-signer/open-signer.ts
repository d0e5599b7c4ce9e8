import type { Clock } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Sealing } from '../../ports/keyring.ts'
import { openSignerOver, type FollowingSigner } from '../signing-keys/open-signer.ts'
import { createSealedKeys } from './sealed-keys.ts'

interface SealedSignerDeps {
  readonly datastore: Datastore
  readonly sealing: Sealing
  readonly clock: Clock
}

/** Opens the signer whose Ed25519 keys are stored encrypted in the datastore. Creates the first key. */
export function openSigner({ datastore, sealing, clock }: SealedSignerDeps): Promise<FollowingSigner> {
  const sealed = createSealedKeys(sealing)
  return openSignerOver({ datastore, clock, source: sealed, former: [], isMoving: false })
}
