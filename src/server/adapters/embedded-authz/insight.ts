import type { Condition } from '../../../shared/authz/engine/edge-conditions.ts'
import { explainInSteps, withRemedies } from '../../../shared/authz/engine/explain/explain.ts'
import { createPreview, type Preview } from '../../../shared/authz/engine/impact/preview.ts'
import type { TupleIndex } from '../../../shared/authz/engine/tuple-index.ts'
import type { ExplainedCheck } from '../../../shared/authz/explanation.ts'
import type { Impact } from '../../../shared/authz/impact.ts'
import type { Steps } from '../../../shared/steps.ts'
import { invalidTriple } from '../../../shared/authz/validate-tuple.ts'
import type { OwningDomain } from '../../ports/authorizer.ts'
import type { AuthzInsight, ExplainQuery, ImpactQuery } from '../../ports/authz-insight.ts'
import type { LoadedTuples } from './follow-tuples.ts'
import type { AnsweringDeps } from './lookups.ts'
import {
  answered,
  answeredInTurns,
  decided,
  pinnedSettings,
  serverConditions,
  type Needs,
} from './server-conditions.ts'
import { answerInSlices } from './sliced-answers.ts'

type Untried = ReturnType<typeof explainInSteps>
type StepsEnd<S> = S extends Steps<infer T> ? T : never

export interface EmbeddedInsightDeps extends AnsweringDeps {
  /** The Domain of an object. */
  readonly domainIn: (index: TupleIndex, reference: string) => OwningDomain
}

/**
 * Explanations and previews over the index in memory. An explanation is from one state of the index; its remedies are tried
 * in the present state once it has ended. Previews change the index itself and revert the changes before
 * other requests are served: they neither wait nor copy.
 */
export function createEmbeddedInsight(deps: EmbeddedInsightDeps): AuthzInsight {
  const { model, usableTuples, settings, slices, domainIn } = deps
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

  function explained(query: ExplainQuery): ExplainedCheck | Needs | Promise<ExplainedCheck | Needs> {
    let tuples = usableTuples()
    const begin = (): TupleIndex => {
      tuples = usableTuples()
      return tuples.index
    }
    const { subject, relation, resource, isAbandoned } = query
    if (subject.includes('#')) throw invalidTriple({ part: 'subject', reason: 'malformed' })
    const conditions = serverConditions(pinnedSettings(settings), query)
    const { holds } = conditions
    const missing = (condition: Condition): readonly string[] => conditions.missing(condition)
    const mayBind = (bound: string, to: string): boolean => mayBindIn(usableTuples().index)(bound, to)
    const options = { holds, missing, mayBind }
    const asking = { subject, relation, resource }
    const steps = (): Untried => explainInSteps({ model, ...tuples }, asking, options)
    const tried = (answer: StepsEnd<Untried>): ExplainedCheck | Needs => {
      if ('reason' in answer) throw invalidTriple(answer)
      // The index may have been replaced since the answer began.
      const present = { model, ...usableTuples() }
      const explanation = decided(() => withRemedies(answer, { deps: present, asking, options }))
      return conditions.needs === undefined ? explanation : { needs: conditions.needs }
    }
    const answer = answerInSlices(slices, { begin, steps, isAbandoned })
    return answer instanceof Promise ? answer.then(tried) : tried(answer)
  }

  function previewed({ edits, changesMax, ...asked }: ImpactQuery): Impact | Needs {
    const preview = previewOver(usableTuples())
    const conditions = serverConditions(settings, asked)
    const impact = decided(() => preview(edits, { holds: conditions.holds, changesMax }))
    if ('reason' in impact) throw invalidTriple(impact)
    return conditions.needs === undefined ? impact : { needs: conditions.needs }
  }

  return {
    explain: (query) => answeredInTurns(settings, () => explained(query)),
    impact: (query) => answered(settings, () => previewed(query)),
  }
}
