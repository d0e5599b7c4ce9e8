import type { Slice } from '../../http/slice.ts'
import { createMeshKeys, type MeshKeysDeps } from './service.ts'

export { events } from './events.ts'

/** Keys of the mesh and their rotation. */
export function createSlice(ports: MeshKeysDeps): Slice<'meshKeys'> {
  return { handlers: { meshKeys: createMeshKeys(ports) } }
}
