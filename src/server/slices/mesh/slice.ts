import type { Slice } from '../../http/slice.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { createRelayChoice } from './relay-choice.ts'
import { createMesh } from './service.ts'

/** The mesh of a Domain as a whole: its topology, and the relay of each edge. */
export function createSlice({ datastore }: { readonly datastore: Datastore }): Slice<'mesh'> {
  return { handlers: { mesh: createMesh({ datastore }) }, jobs: [createRelayChoice({ datastore })] }
}
