import { ProblemAnswer } from '../../../client/failures.ts'
import type { Caller, CallInput } from '../../../client/client.ts'
import type { Session } from '../../session/session.ts'
import { withCaller } from '../../session/step-up.ts'

/** The operations on the violations of all Domains, and those on the violations of one. */
export const IN_DOMAIN: Readonly<Record<string, string>> = {
  ListIntegrityViolations: 'ListDomainIntegrityViolations',
  GetIntegrityViolation: 'GetDomainIntegrityViolation',
  AcknowledgeIntegrityViolation: 'AcknowledgeDomainIntegrityViolation',
}

/**
 * The session, with calls about violations that go to a Domain: to the one that the call names, or to the caller's own where
 * it lacks the relation on the platform.
 */
export function routedToDomain(session: Session): Session {
  return withCaller(session, (caller) => ({ ...caller, call: routed(session, caller) }))
}

function routed(session: Session, caller: Caller): Caller['call'] {
  return async (operation, input, options) => {
    const inDomain = IN_DOMAIN[operation.id]
    if (inDomain === undefined) return caller.call(operation, input, options)
    const within = (domainId: unknown) =>
      caller.call(session.operation(inDomain), { ...input, domain_id: domainId }, options)
    if (namesDomain(input)) return within(input['domain_id'])
    try {
      return await caller.call(operation, input, options)
    } catch (error) {
      if (!isDenied(error)) throw error
      return within((await session.whoami())['domain_id'])
    }
  }
}

function namesDomain(input: CallInput): boolean {
  return input['domain_id'] !== undefined
}

/** A token whose scopes do not cover the operation would be refused in the Domain as well. */
function isDenied(error: unknown): boolean {
  const isRefused = error instanceof ProblemAnswer && error.code === 'permission_denied'
  return isRefused && error.document['reason'] !== 'out_of_scope'
}
