import type { ConditionVerdict } from '../../../shared/authz/engine/question.ts'
import { createLookups, type Lookups } from '../../../shared/authz/engine/lookup/lookups.ts'
import type { QuestionFault } from '../../../shared/authz/engine/resolve-question.ts'
import type { TupleIndex } from '../../../shared/authz/engine/tuple-index.ts'
import type { Model } from '../../../shared/authz/model.ts'
import { invalidTriple } from '../../../shared/authz/validate-tuple.ts'
import type { AuthzLookups } from '../../ports/authz-lookups.ts'
import type { SettingsCache } from './domain-settings.ts'
import type { LoadedTuples } from './follow-tuples.ts'
import { answered, decided, serverConditions, type AskedFacts, type Needs } from './server-conditions.ts'

/** The dependencies of answers from the index in memory. */
export interface AnsweringDeps {
  readonly model: Model
  /** The tuples to answer from. @throws Problem `authz_unavailable` */
  readonly usableTuples: () => LoadedTuples
  readonly settings: SettingsCache
}

/** Tuples that a bounded lookup looks at for each result that it may find. An administrator reaches an object in several ways, by about seven. */
const TUPLES_PER_RESULT = 20

type Find<T> = (lookups: Lookups, holds: ConditionVerdict) => T | QuestionFault

/** Lookups by walks over the index in memory; synchronous where the Domain settings that caveats read are cached. */
export function createEmbeddedLookups({ model, usableTuples, settings }: AnsweringDeps): AuthzLookups {
  let latest: { readonly index: TupleIndex; readonly lookups: Lookups } | undefined

  function lookupsOver({ index, checker }: LoadedTuples): Lookups {
    if (latest?.index !== index) latest = { index, lookups: createLookups({ model, index, checker }) }
    return latest.lookups
  }

  function find<T extends object>(asked: AskedFacts, work: Find<T>): T | Promise<T> {
    return answered(settings, (): T | Needs => {
      const lookups = lookupsOver(usableTuples())
      const conditions = serverConditions(settings, asked)
      const found = decided(() => work(lookups, conditions.holds))
      if ('reason' in found) throw invalidTriple(found)
      return conditions.needs === undefined ? found : { needs: conditions.needs }
    })
  }

  return {
    resources({ subject, relation, resourceType, ...asked }) {
      if (subject.includes('#')) throw invalidTriple({ part: 'subject', reason: 'malformed' })
      return find(asked, (lookups, holds) => {
        const found = lookups.resources({ subject, relation, resourceType }, holds)
        return 'reason' in found ? found : found.granted
      })
    },
    fewResources({ subject, relation, resourceType, max, ...asked }) {
      const bounds = { objects: max, tuples: max * TUPLES_PER_RESULT }
      const found = find(asked, (lookups, holds) => {
        const ids = lookups.fewResources({ subject, relation, resourceType }, holds, bounds)
        return ids === undefined || !('reason' in ids) ? { ids } : ids
      })
      return found instanceof Promise ? found.then(({ ids }) => ids) : found.ids
    },
    subjects({ subjectType, relation, resource, ...asked }) {
      return find(asked, (lookups, holds) => {
        const found = lookups.subjects({ subjectType, relation, resource }, holds)
        return 'reason' in found ? found : found.unconditional
      })
    },
  }
}
