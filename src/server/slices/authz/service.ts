import type { authz } from '../../../shared/contract/authz.ts'
import type { Input, Result } from '../../../shared/contract/operation-types.ts'
import { problem } from '../../../shared/problems.ts'
import { createTimeSlices } from '../../../shared/time-slices.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { Authorizer, Decision } from '../../ports/authorizer.ts'
import type { AuthzInsight } from '../../ports/authz-insight.ts'
import type { AuthzLookups } from '../../ports/authz-lookups.ts'
import type { AuthzReconciler } from '../../ports/authz-reconciler.ts'
import { andThen, DENIED, factsOf, namedFacts, noteAsked } from './question-context.ts'
import { createResolveEdits, type EditsDeps } from './edits.ts'
import { createExplain } from './explain.ts'
import { createImpact } from './impact.ts'
import { createLookupAnswers } from './lookups.ts'
import { createDisclosurePolicy, type DisclosurePolicy } from './disclosure-policy.ts'

type PostAuthzCheck = (typeof authz)['operations']['PostAuthzCheck']
type Question = Input<PostAuthzCheck>['body']
type Answer = Result<PostAuthzCheck>

export interface AuthzDeps {
  readonly authorizer: Authorizer
  /** Without it lookups answer 501. */
  readonly lookups?: AuthzLookups | undefined
  /** Without it explain and impact answer 501. */
  readonly insight?: AuthzInsight | undefined
  /** Without it reconcile answers 501. */
  readonly reconciler?: AuthzReconciler | undefined
  /** The dependencies of the writes that a preview tries; without them impact answers 501. */
  readonly writing?: EditsDeps | undefined
}

/** Milliseconds of a turn of the event loop that go to what is done with found objects; the engine's own slice comes on top. */
const RENDERING_SLICE_MS = 3

/**
 * Serves questions about who may do what. A denial is an answer, never an error. Outside of its own Domain a caller
 * gets denials alone, unless it holds `read` on the platform (decisions: Cross-tenant); what does not exist is denied
 * to everybody. Answers checks synchronously where the authorizer does: other services wait on this path.
 */
export function createAuthz(deps: AuthzDeps): Handlers<typeof authz> {
  const { authorizer, lookups, insight, reconciler, writing } = deps
  // The engine has slices of its own in the same turns of the event loop.
  const slices = createTimeSlices({ sliceMs: RENDERING_SLICE_MS })
  const disclosure = createDisclosurePolicy(authorizer, { mayBeStale: false, slices })
  const finding = lookups && createLookupAnswers({ lookups, disclosure, slices })
  const explain = insight && createExplain({ authorizer, insight, disclosure })
  const impact = insight && writing && createImpact({ insight, disclosure, resolveEdits: createResolveEdits(writing) })
  return {
    PostAuthzCheck: createCheck(authorizer, createDisclosurePolicy(authorizer, { mayBeStale: true, slices })),
    PostAuthzLookupResources: (ctx, { body }) => provisioned(finding).resources(ctx, body),
    PostAuthzLookupSubjects: (ctx, { body }) => provisioned(finding).subjects(ctx, body),
    PostAuthzExplain: (ctx, { body }) => provisioned(explain)(ctx, body),
    PostAuthzImpact: (ctx, { body }) => provisioned(impact)(ctx, body),
    PostAuthzReconcile: async () => ({ ...(await provisioned(reconciler).reconcile()) }),
  }
}

/** @throws Problem `authz_not_provisioned` for a collaborator that is not configured (S0 convention 8). */
function provisioned<T>(collaborator: T | undefined): T {
  if (collaborator === undefined) throw problem('authz_not_provisioned')
  return collaborator
}

function createCheck(authorizer: Authorizer, disclosure: DisclosurePolicy): Handlers<typeof authz>['PostAuthzCheck'] {
  /** A plain denial is returned as it is; any other decision only for objects that the caller may learn about. */
  function described(
    ctx: RequestContext,
    { subject, resource }: Question,
    decision: Decision,
  ): Decision | Promise<Decision> {
    if (decision.staleSinceMs !== undefined || ctx.caller.staleSinceMs !== undefined) {
      return andThen(disclosure.mayDisclose(ctx, subject, resource), (may) => answerStale(ctx, decision, may))
    }
    if (!decision.allowed && decision.reason === 'insufficient_relation') return decision
    return andThen(disclosure.mayDisclose(ctx, subject, resource), (may) => (may ? decision : DENIED))
  }

  return (ctx, { body }) => {
    const { subject, relation, resource, caveat_context: named } = body
    noteAsked(ctx, { subject, relation })
    const facts = factsOf(ctx, subject)
    const query = {
      subject,
      relation,
      resource,
      facts,
      allowedFacts: namedFacts(named),
      wantPath: true,
      mayBeStale: true,
    }
    const answered = andThen(authorizer.check(query), (found) => described(ctx, body, found))
    return andThen(answered, (known) => answer(ctx, known))
  }
}

/**
 * An earlier decision, for callers that may learn it. Others get the answer for a question that is not cached: which
 * questions are cached is information too. A credential from memory is good for answers from memory alone.
 */
function answerStale(ctx: RequestContext, decision: Decision, may: boolean): Decision {
  if (decision.staleSinceMs === undefined) throw problem('datastore_unavailable')
  if (!may) throw problem('authz_unavailable')
  ctx.degraded(decision.staleSinceMs)
  return decision
}

function answer(ctx: RequestContext, decision: Decision): Answer {
  const { correlationId: correlation_id } = ctx
  if (decision.allowed) return { decision: 'allowed', relation_path: [...decision.path], correlation_id }
  ctx.denied(decision.reason)
  return { decision: 'denied', reason: decision.reason, correlation_id }
}
