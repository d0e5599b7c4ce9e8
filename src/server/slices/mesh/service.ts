import type { mesh } from '../../../shared/contract/mesh.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { readWorld } from '../../policies/world-store.ts'
import { createWorlds } from '../../policies/worlds.ts'
import { createEdgeEpochs } from './edge-epochs.ts'
import { createTopology } from './topology.ts'

/** Serves what concerns the mesh of a Domain as a whole. */
export function createMesh({ datastore }: { readonly datastore: Datastore }): Handlers<typeof mesh> {
  const worlds = createWorlds({ read: (domainId, since) => readWorld(datastore.pool('interactive'), domainId, since) })
  const deps = { datastore, worlds }
  return { ...createTopology(deps), ...createEdgeEpochs(deps) }
}
