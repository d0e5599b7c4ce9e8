import type { RoleSubject } from '../../../shared/role-subjects.ts'
import type { RequestContext } from '../request-context.ts'

/**
 * Marks a call that lets its caller act as the principal, which manages these places. A policy on `access.takeover` of one of
 * them holds the call: one person could otherwise decide as two (decisions: Approvals queue).
 */
export function heldAsTakeover(
  ctx: Pick<RequestContext, 'heldAs'>,
  principal: RoleSubject,
  managed: readonly { readonly domainId: string | null }[],
): void {
  const object = `${principal.type}:${principal.id}`
  for (const { domainId } of managed) ctx.heldAs({ action: 'access.takeover', object, domainId })
}
