import type { RoleSubject } from '../../../shared/role-subjects.ts'
import type { Db } from '../../ports/datastore.ts'
import { managedPlaces } from '../../sql/managed-places.ts'
import type { RequestContext } from '../request-context.ts'

/**
 * Marks a call that lets its caller act as the principal. Where the principal manages a Domain or the platform, a policy on
 * `access.takeover` holds the call: one person could otherwise decide as two (decisions: Approvals queue).
 */
export async function heldAsTakeover(
  ctx: Pick<RequestContext, 'heldAs'>,
  db: Db,
  principal: RoleSubject,
): Promise<void> {
  const object = `${principal.type}:${principal.id}`
  for (const { domainId } of await managedPlaces(db, principal))
    ctx.heldAs({ action: 'access.takeover', object, domainId })
}
