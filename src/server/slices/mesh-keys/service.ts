import type { meshKeys } from '../../../shared/contract/mesh-keys.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Sealing } from '../../ports/keyring.ts'
import { readWorld } from '../../policies/world-store.ts'
import { createWorlds } from '../../policies/worlds.ts'
import { createCompletion } from './completion.ts'
import { createEdgePsks } from './edge-psk.ts'
import { createPreview } from './preview.ts'
import { createRotations } from './rotations.ts'

export interface MeshKeysDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
  readonly sealing: Sealing
}

/** Serves the keys of edges, and the rotation of the node keys that they derive from. */
export function createMeshKeys(ports: MeshKeysDeps): Handlers<typeof meshKeys> {
  const { datastore } = ports
  const worlds = createWorlds({ read: (domainId, since) => readWorld(datastore.pool('interactive'), domainId, since) })
  const deps = { ...ports, worlds }
  return { ...createEdgePsks(deps), ...createRotations(deps), ...createPreview(deps), ...createCompletion(deps) }
}
