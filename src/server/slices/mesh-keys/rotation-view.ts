import type { meshKeys } from '../../../shared/contract/mesh-keys.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { StoredRotation } from './rotation-store.ts'

/** The handle of a rotation (decisions 6: Rotation handle). */
export function toRotation(rotation: StoredRotation): Result<(typeof meshKeys)['operations']['GetNodeKeysRotation']> {
  return {
    rotation_id: rotation.id,
    node_id: rotation.node_id,
    state: rotation.state,
    requested_at: rotation.requested_at.toISOString(),
    requested_by: rotation.requested_by,
    completed_at: rotation.completed_at?.toISOString() ?? null,
  }
}
