import type { Condition } from '../../../shared/authz/engine/edge-conditions.ts'
import { explain } from '../../../shared/authz/engine/explain/explain.ts'
import { createPreview, type Preview } from '../../../shared/authz/engine/impact/preview.ts'
import type { TupleIndex } from '../../../shared/authz/engine/tuple-index.ts'
import type { ExplainedCheck } from '../../../shared/authz/explanation.ts'
import type { Impact } from '../../../shared/authz/impact.ts'
import { invalidTriple } from '../../../shared/authz/validate-tuple.ts'
import type { CheckQuery, OwningDomain } from '../../ports/authorizer.ts'
import type { AuthzInsight, ImpactQuery } from '../../ports/authz-insight.ts'
import type { LoadedTuples } from './follow-tuples.ts'
import type { AnsweringDeps } from './lookups.ts'
import { answered, decided, serverConditions, type Needs } from './server-conditions.ts'

export interface EmbeddedInsightDeps extends AnsweringDeps {
  /** The Domain of an object. */
  readonly domainIn: (index: TupleIndex, reference: string) => OwningDomain
}

/**
 * Explanations and previews over the index in memory. Previews change the index itself and revert the changes before
 * other requests are served: they neither wait nor copy.
 */
export function createEmbeddedInsight({ model, usableTuples, settings, domainIn }: EmbeddedInsightDeps): AuthzInsight {
  let latest: { readonly index: TupleIndex; readonly preview: Preview } | undefined

  function previewOver({ index, checker }: LoadedTuples): Preview {
    if (latest?.index !== index) latest = { index, preview: createPreview({ model, index, checker }) }
    return latest.preview
  }

  /** Whether tuples of the resource may name the subject: both are in one Domain, or the resource is the platform's. */
  function mayBindIn(index: TupleIndex): (subject: string, resource: string) => boolean {
    return (subject, resource) => {
      const domain = domainIn(index, resource)
      return domain === null || (domain !== undefined && domain === domainIn(index, subject))
    }
  }

  function explained(query: CheckQuery): ExplainedCheck | Needs {
    const { index, checker } = usableTuples()
    const { subject, relation, resource } = query
    if (subject.includes('#')) throw invalidTriple({ part: 'subject', reason: 'malformed' })
    const conditions = serverConditions(settings, query)
    const { holds } = conditions
    const missing = (condition: Condition): readonly string[] => conditions.missing(condition)
    const options = { holds, missing, mayBind: mayBindIn(index) }
    const answer = decided(() => explain({ model, index, checker }, { subject, relation, resource }, options))
    if ('reason' in answer) throw invalidTriple(answer)
    return conditions.needs === undefined ? answer : { needs: conditions.needs }
  }

  function previewed({ edits, changesMax, ...asked }: ImpactQuery): Impact | Needs {
    const preview = previewOver(usableTuples())
    const conditions = serverConditions(settings, asked)
    const impact = decided(() => preview(edits, { holds: conditions.holds, changesMax }))
    if ('reason' in impact) throw invalidTriple(impact)
    return conditions.needs === undefined ? impact : { needs: conditions.needs }
  }

  return {
    explain: (query) => answered(settings, () => explained(query)),
    impact: (query) => answered(settings, () => previewed(query)),
  }
}
