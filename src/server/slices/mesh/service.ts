import type { mesh } from '../../../shared/contract/mesh.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { createEdgeEpochs } from './edge-epochs.ts'
import { createTopology } from './topology.ts'

/** Serves what concerns the mesh of a Domain as a whole. */
export function createMesh(deps: { readonly datastore: Datastore }): Handlers<typeof mesh> {
  return { ...createTopology(deps), ...createEdgeEpochs(deps) }
}
