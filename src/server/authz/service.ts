import type { authz } from '../../shared/contract/authz.ts'
import type { Input, Result } from '../../shared/contract/operation.ts'
import { PLATFORM } from '../../shared/ids.ts'
import type { Handlers, RequestContext } from '../http/request-context.ts'
import type { Authorizer, CaveatFacts, Decision, Home } from '../ports/authorizer.ts'

type PostAuthzCheck = (typeof authz)['operations']['PostAuthzCheck']
type Question = Input<PostAuthzCheck>['body']
type Answer = Result<PostAuthzCheck>

const NO_FACTS: ReadonlySet<string> = new Set()
const DENIED: Decision = { allowed: false, reason: 'insufficient_relation' }

/**
 * Serves questions about who may do what. A denial is an answer, never an error. Outside of its own Domain a caller
 * gets denials alone, unless it holds `read` on the platform (decisions: Cross-tenant); what does not exist is denied
 * to everybody. Answers at once where the authorizer does: this is the path that other services wait on.
 */
export function createAuthz({ authorizer }: { readonly authorizer: Authorizer }): Handlers<typeof authz> {
  /** Whether the caller may be told of more than a plain denial. */
  function mayTell(ctx: RequestContext, [subject, resource]: readonly [Home, Home]): boolean | Promise<boolean> {
    if (subject === undefined || resource === undefined) return false
    const home = ctx.caller.domainId
    return (subject === home && resource === home) || readsPlatform(ctx)
  }

  function readsPlatform({ caller, facts }: RequestContext): boolean | Promise<boolean> {
    const query = { subject: caller.subject, relation: 'read', resource: PLATFORM, facts, wantPath: false }
    return then(authorizer.check(query), ({ allowed }) => allowed)
  }

  /** A plain denial needs no second look; anything else is told only of what the caller may ask about. */
  function told(
    ctx: RequestContext,
    { subject, resource }: Question,
    decision: Decision,
  ): Decision | Promise<Decision> {
    if (!decision.allowed && decision.reason === 'insufficient_relation') return decision
    const subjectHome = subject === ctx.caller.subject ? ctx.caller.domainId : authorizer.domainOf(subject)
    const resourceHome = authorizer.domainOf(resource)
    const homes =
      subjectHome instanceof Promise || resourceHome instanceof Promise
        ? Promise.all([subjectHome, resourceHome])
        : ([subjectHome, resourceHome] as const)
    return then(
      then(homes, (known) => mayTell(ctx, known)),
      (may) => (may ? decision : DENIED),
    )
  }

  return {
    PostAuthzCheck(ctx, { body }) {
      const { subject, relation, resource, caveat_context: named } = body
      const facts = factsOf(ctx, subject)
      const allowedFacts = named === undefined ? NO_FACTS : new Set(Object.keys(named))
      const decision = authorizer.check({ subject, relation, resource, facts, allowedFacts, wantPath: true })
      const answered = then(decision, (found) => told(ctx, body, found))
      return then(answered, (known) => answer(ctx, known))
    },
  }
}

/** What is known of the asked subject: of anybody but the caller, only the time. */
function factsOf({ caller, facts }: RequestContext, subject: string): CaveatFacts {
  return subject === caller.subject ? facts : { nowMs: facts.nowMs }
}

function answer(ctx: RequestContext, decision: Decision): Answer {
  const { correlationId: correlation_id } = ctx
  if (decision.allowed) return { decision: 'allowed', relation_path: [...decision.path], correlation_id }
  ctx.denied(decision.reason)
  return { decision: 'denied', reason: decision.reason, correlation_id }
}

/** Goes on at once with a value that is at hand, and later with one that is promised. */
function then<T, R>(value: T | Promise<T>, goOn: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(goOn) : goOn(value)
}
