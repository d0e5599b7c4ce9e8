import type { ConditionVerdict } from '../../../shared/authz/engine/question.ts'
import { createLookups, type Lookups, type LookupsInSteps } from '../../../shared/authz/engine/lookup/lookups.ts'
import type { QuestionFault } from '../../../shared/authz/engine/resolve-question.ts'
import type { TupleIndex } from '../../../shared/authz/engine/tuple-index.ts'
import type { Model } from '../../../shared/authz/model.ts'
import { invalidTriple } from '../../../shared/authz/validate-tuple.ts'
import type { Steps } from '../../../shared/steps.ts'
import type { TimeSlices } from '../../../shared/time-slices.ts'
import type { AuthzLookups } from '../../ports/authz-lookups.ts'
import type { LongQuestion } from '../../ports/caller-gone.ts'
import type { SettingsCache } from './domain-settings.ts'
import type { LoadedTuples } from './follow-tuples.ts'
import {
  answered,
  answeredInTurns,
  decided,
  pinnedSettings,
  serverConditions,
  type AskedFacts,
  type Needs,
  type ServerConditions,
} from './server-conditions.ts'
import { answerInSlices } from './sliced-answers.ts'

/** The dependencies of answers from the index in memory. */
export interface AnsweringDeps {
  readonly model: Model
  /** The tuples to answer from. @throws Problem `authz_unavailable` */
  readonly usableTuples: () => LoadedTuples
  readonly settings: SettingsCache
  /** Shared by all long answers. */
  readonly slices: TimeSlices
}

type Find<T> = (inSteps: LookupsInSteps, holds: ConditionVerdict) => Steps<T | QuestionFault>

/** Tuples that a bounded lookup looks at for each result that it may find. An administrator reaches an object in several ways, by about seven. */
const TUPLES_PER_RESULT = 20

/** Lookups by walks over the index in memory; synchronous where they are short and the settings that caveats read are cached. */
export function createEmbeddedLookups({ model, usableTuples, settings, slices }: AnsweringDeps): AuthzLookups {
  let latest: { readonly index: TupleIndex; readonly lookups: Lookups } | undefined

  function lookupsOver({ index, checker }: LoadedTuples): Lookups {
    if (latest?.index !== index) latest = { index, lookups: createLookups({ model, index, checker }) }
    return latest.lookups
  }

  function find<T extends object>(asked: AskedFacts & LongQuestion, stepsOf: Find<T>): T | Promise<T> {
    return answeredInTurns(settings, () => {
      let tuples = usableTuples()
      const begin = (): TupleIndex => {
        tuples = usableTuples()
        return tuples.index
      }
      const conditions = serverConditions(pinnedSettings(settings), asked)
      const steps = (): ReturnType<Find<T>> => stepsOf(lookupsOver(tuples).inSteps, conditions.holds)
      const found = answerInSlices(slices, { begin, steps, isAbandoned: asked.isAbandoned })
      return found instanceof Promise ? found.then((known) => settled(known, conditions)) : settled(found, conditions)
    })
  }

  return {
    resources({ subject, relation, resourceType, ...asked }) {
      if (subject.includes('#')) throw invalidTriple({ part: 'subject', reason: 'malformed' })
      const found = find(asked, (inSteps, holds) => inSteps.resources({ subject, relation, resourceType }, holds))
      return found instanceof Promise ? found.then(({ granted }) => granted) : found.granted
    },
    fewResources({ subject, relation, resourceType, max, ...asked }) {
      const bounds = { objects: max, tuples: max * TUPLES_PER_RESULT }
      const found = answered(settings, () => {
        const lookups = lookupsOver(usableTuples())
        const conditions = serverConditions(settings, asked)
        const ids = decided(() => lookups.fewResources({ subject, relation, resourceType }, conditions.holds, bounds))
        return settled(ids === undefined || !('reason' in ids) ? { ids } : ids, conditions)
      })
      return found instanceof Promise ? found.then(({ ids }) => ids) : found.ids
    },
    subjects({ subjectType, relation, resource, ...asked }) {
      const found = find(asked, (inSteps, holds) => inSteps.subjects({ subjectType, relation, resource }, holds))
      return found instanceof Promise ? found.then(({ unconditional }) => unconditional) : found.unconditional
    },
  }
}

/** @throws Problem `invalid_triple` for a question that cannot be asked. */
function settled<T extends object>(found: T | QuestionFault, { needs }: ServerConditions): T | Needs {
  if ('reason' in found) throw invalidTriple(found)
  return needs === undefined ? found : { needs }
}
