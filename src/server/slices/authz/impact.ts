import type { PermissionChange, TupleEdit } from '../../../shared/authz/impact.ts'
import { IMPACT_CHANGES_MAX } from '../../../shared/contract/authz-schemas.ts'
import type { authz } from '../../../shared/contract/authz.ts'
import type { Input, Result } from '../../../shared/contract/operation-types.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { AuthzInsight } from '../../ports/authz-insight.ts'
import type { ResolveEdits } from './edits.ts'
import type { DisclosurePolicy } from './disclosure-policy.ts'

type PostAuthzImpact = (typeof authz)['operations']['PostAuthzImpact']

const CHANGES_DEFAULT = 200

export interface ImpactDeps {
  readonly insight: AuthzInsight
  readonly disclosure: DisclosurePolicy
  readonly resolveEdits: ResolveEdits
}

/** Previews changes and shows those effects that the caller may read. */
export function createImpact({ insight, disclosure, resolveEdits }: ImpactDeps) {
  return async (ctx: RequestContext, body: Input<PostAuthzImpact>['body']): Promise<Result<PostAuthzImpact>> => {
    const edits = await resolveEdits(ctx, body.edits)
    const facts = { nowMs: ctx.facts.nowMs }
    const impact = await insight.impact({ edits, facts, changesMax: IMPACT_CHANGES_MAX })
    const reads = disclosure.readerOf(ctx)
    const named = new Set(edits.map(({ tuple }) => subjectOf(tuple)))
    const shown: PermissionChange[] = []
    for (const change of impact.changes) {
      const mayName = named.has(change.subject) || change.subject.endsWith(':*') || (await reads(change.subject))
      if (mayName && (await reads(change.resource))) shown.push(change)
    }
    const changes = shown.slice(0, body.changes_max ?? CHANGES_DEFAULT).map((change) => ({ ...change }))
    ctx.note({ item_count: changes.length })
    return {
      changes,
      count: impact.count,
      hidden_count: impact.changes.length - shown.length,
      complete: impact.isComplete,
      correlation_id: ctx.correlationId,
    }
  }
}

/** A subject that the caller named itself, or found in a tuple that it manages. */
function subjectOf({ subject_type: type, subject_id: id, subject_relation: relation }: TupleEdit['tuple']): string {
  return relation === '' ? `${type}:${id}` : `${type}:${id}#${relation}`
}
