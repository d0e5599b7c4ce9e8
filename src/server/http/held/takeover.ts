import type { RoleSubject } from '../../../shared/role-subjects.ts'
import type { RequestContext } from '../request-context.ts'

/** A Domain, or the platform, that somebody manages, and the approvals that its policies ask for a takeover. */
export interface ManagedPlace {
  /** Null for the platform. */
  readonly domainId: string | null
}

const ACTION = 'access.takeover'

/**
 * Marks a call that lets its caller act as the principal, which manages these places. A policy on `access.takeover` holds it:
 * one person could otherwise decide as two (decisions: Approvals queue). Somebody who manages the platform manages every
 * Domain, so that the policy of any of them counts; `mostAsked` is what they ask for at most.
 */
export function heldAsTakeover(
  ctx: Pick<RequestContext, 'heldAs'>,
  { type, id }: RoleSubject,
  { managed, mostAsked }: { readonly managed: readonly ManagedPlace[]; readonly mostAsked: number },
): void {
  const object = `${type}:${id}`
  for (const { domainId } of managed) {
    if (domainId !== null) ctx.heldAs({ action: ACTION, object, domainId })
    else if (mostAsked > 0) ctx.heldAs({ action: ACTION, object, domainId, requiredApprovals: mostAsked })
  }
}
