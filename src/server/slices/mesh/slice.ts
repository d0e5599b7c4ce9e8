import type { Slice } from '../../http/slice.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { createRelayChoice } from './relay-choice.ts'
import { createMesh } from './service.ts'
import { createSubnetChoice } from './subnet-choice.ts'

export { events } from './events.ts'

/** The mesh of a Domain as a whole: its topology, and the relay of each edge. */
export function createSlice(ports: { readonly datastore: Datastore; readonly ids: IdSource }): Slice<'mesh'> {
  return { handlers: { mesh: createMesh(ports) }, jobs: [createRelayChoice(ports), createSubnetChoice(ports)] }
}
