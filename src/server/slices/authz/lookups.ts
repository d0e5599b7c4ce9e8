import type { authz } from '../../../shared/contract/authz.ts'
import type { Answer, Input } from '../../../shared/contract/operation-types.ts'
import type { TimeSlices } from '../../../shared/time-slices.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { AuthzLookups } from '../../ports/authz-lookups.ts'
import { factsOf, namedFacts, noteAsked, wanting } from './question-context.ts'
import type { DisclosurePolicy } from './disclosure-policy.ts'
import { renderFound } from './render-found.ts'

type Operations = (typeof authz)['operations']
type Found = Answer<Operations['PostAuthzLookupResources']>
type ResourcesBody = Input<Operations['PostAuthzLookupResources']>['body']
type SubjectsBody = Input<Operations['PostAuthzLookupSubjects']>['body']

interface LookupAnswers {
  resources(ctx: RequestContext, body: ResourcesBody): Promise<Found>
  subjects(ctx: RequestContext, body: SubjectsBody): Promise<Found>
}

export interface LookupAnswersDeps {
  readonly lookups: AuthzLookups
  readonly disclosure: DisclosurePolicy
  readonly slices: TimeSlices
}

/**
 * Answers lookups, large ones in slices. What the caller may not learn about is answered like what does not exist: with nothing, after the same
 * validation of the question (decisions: Cross-tenant).
 */
export function createLookupAnswers({ lookups, disclosure, slices }: LookupAnswersDeps): LookupAnswers {
  async function answer(ctx: RequestContext, about: string, found: readonly string[]): Promise<Found> {
    const items = (await disclosure.mayDiscloseAbout(ctx, about)) ? await disclosure.disclosableOf(ctx, found) : []
    ctx.note({ item_count: items.length })
    return slices.run(renderFound(items, ctx.correlationId), wanting(ctx))
  }

  return {
    async resources(ctx, { subject, relation, resource_type: resourceType, caveat_context: named }) {
      noteAsked(ctx, { relation, resource_type: resourceType })
      const asked = { subject, relation, resourceType, facts: factsOf(ctx, subject), allowedFacts: namedFacts(named) }
      return answer(ctx, subject, await lookups.resources({ ...asked, isAbandoned: () => ctx.isAbandoned() }))
    },
    async subjects(ctx, { subject_type: subjectType, relation, resource, caveat_context: named }) {
      noteAsked(ctx, { relation, subject_type: subjectType })
      // A subject that is found is not the caller, so that only the time is known.
      const facts = { nowMs: ctx.facts.nowMs }
      const asked = { subjectType, relation, resource, facts, allowedFacts: namedFacts(named) }
      return answer(ctx, resource, await lookups.subjects({ ...asked, isAbandoned: () => ctx.isAbandoned() }))
    },
  }
}
