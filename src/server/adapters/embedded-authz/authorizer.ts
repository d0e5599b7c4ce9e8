import { resolveQuestion } from '../../../shared/authz/engine/resolve-question.ts'
import { NO, YES } from '../../../shared/authz/engine/verdict.ts'
import { grantingNames } from '../../../shared/authz/granting-names.ts'
import type { Model } from '../../../shared/authz/model.ts'
import { SERVICE_MODEL } from '../../../shared/authz/service-model.ts'
import { invalidTriple } from '../../../shared/authz/validate-tuple.ts'
import { problem } from '../../../shared/problems.ts'
import { createTimeSlices } from '../../../shared/time-slices.ts'
import type { Authorizer, CheckQuery, Decision } from '../../ports/authorizer.ts'
import type { AuthzInsight } from '../../ports/authz-insight.ts'
import type { AuthzLookups } from '../../ports/authz-lookups.ts'
import type { AuthzReconciler } from '../../ports/authz-reconciler.ts'
import type { ChangeFeed } from '../../ports/change-feed.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { createSettingsCache } from './domain-settings.ts'
import { followTuples, type LoadedTuples } from './follow-tuples.ts'
import { createObjectDomains } from './object-domain.ts'
import { createIndexSizeWatch, indexBytesMax } from './index-size.ts'
import { createPersistedIndex } from './persisted-index.ts'
import { createEmbeddedInsight } from './insight.ts'
import { createEmbeddedLookups } from './lookups.ts'
import { answered, decided, serverConditions, type Needs } from './server-conditions.ts'
import { createEmbeddedReconciler } from './reconciler.ts'
import { createTupleRules, type TupleRules } from './tuple-rules.ts'

export interface EmbeddedAuthorizerDeps {
  readonly datastore: Datastore
  /** Not started yet: its start loads the tuples. */
  readonly changeFeed: ChangeFeed
  /** File in which the index is kept between two runs; none by default. */
  readonly keptIn?: string
  /** Called when the file is unusable, and when the index outgrows the memory. */
  readonly warn?: (message: string, cause?: unknown) => void
}

export interface IndexStats {
  readonly tuples: number
  readonly objects: number
  /** Tuples that the schema does not have: those grant nothing. */
  readonly unknownTuples: number
  readonly bytes: number
  /** Bytes above which a warning is logged. */
  readonly bytesMax: number
}

/** The authorizer, with the other services of its index. */
export interface EmbeddedAuthorizer extends Authorizer, TupleRules {
  readonly lookups: AuthzLookups
  readonly insight: AuthzInsight
  readonly reconciler: AuthzReconciler
  /** The size of the index, for metrics; zeros until the feed has loaded it. */
  stats(): IndexStats
  /** Writes the index file for the next start if that is due, and at the end of the run after any change. */
  keep(when: 'often' | 'end'): Promise<void>
}

const DENIED: Decision = Object.freeze({ allowed: false, reason: 'insufficient_relation' })
const DENIED_BY_TUPLES: Decision = Object.freeze({ ...DENIED, isUnconditional: true })
const VIOLATION: Decision = Object.freeze({ allowed: false, reason: 'caveat_violation' })
const NO_PATH: readonly string[] = Object.freeze([])
const ALLOWED: Decision = Object.freeze({ allowed: true, path: NO_PATH })
const ALLOWED_BY_TUPLES: Decision = Object.freeze({ ...ALLOWED, isUnconditional: true })

/**
 * Decides from an index of every tuple in memory. The index follows the change feed and answers only within its lease:
 * an isolated replica answers `authz_unavailable` instead of granting (decisions: Consistency).
 */
export function createEmbeddedAuthorizer(deps: EmbeddedAuthorizerDeps): EmbeddedAuthorizer {
  const { datastore, changeFeed, keptIn: path, warn = () => undefined } = deps
  const bytesMax = indexBytesMax()
  const { current: currentTuples, keep } = followTuples(SERVICE_MODEL, changeFeed, {
    kept: path === undefined ? undefined : createPersistedIndex({ path, warn, datastore, model: SERVICE_MODEL }),
    onSize: createIndexSizeWatch(bytesMax, warn),
  })
  const settings = createSettingsCache(datastore)
  const paths = pathsOf(SERVICE_MODEL)
  const domainIn = createObjectDomains(SERVICE_MODEL)
  changeFeed.subscribe(
    ({ kind }) => {
      if (kind === 'domain_changed') settings.drop()
    },
    async () => settings.drop(),
  )

  const answering = { model: SERVICE_MODEL, usableTuples, settings, slices: createTimeSlices() }

  function usableTuples(): LoadedTuples {
    const tuples = currentTuples()
    if (tuples === undefined || !changeFeed.isFresh()) throw problem('authz_unavailable')
    return tuples
  }

  /** A decision, or the Domains whose settings must be read to make it. */
  function decide(query: CheckQuery): Decision | Needs {
    const { index, checker } = usableTuples()
    const question = resolveQuestion(SERVICE_MODEL, index, query)
    if ('reason' in question) throw invalidTriple(question)
    const conditions = serverConditions(settings, query)
    const verdict = decided(() => checker.check(question, conditions.holds, query.wantPath))
    if (verdict === YES) return allowed(query.wantPath ? checker.path() : NO_PATH, conditions.wereAsked)
    if (conditions.needs !== undefined) return { needs: conditions.needs }
    if (verdict !== NO) return VIOLATION
    return conditions.wereAsked ? DENIED : DENIED_BY_TUPLES
  }

  return {
    kind: 'embedded',
    ...createTupleRules(() => currentTuples()?.index),
    lookups: createEmbeddedLookups(answering),
    insight: createEmbeddedInsight({ ...answering, domainIn }),
    reconciler: createEmbeddedReconciler({ ...deps, model: SERVICE_MODEL, usableTuples }),
    check: (query) => answered(settings, () => decide(query)),
    domainOf: (reference) => domainIn(usableTuples().index, reference),
    pathOf: (resourceType, relation) => paths.get(`${resourceType}#${relation}`) ?? [],
    hasRelation: (resourceType, relation) => SERVICE_MODEL.type(resourceType)?.askable.has(relation) ?? false,
    keep,
    stats() {
      const tuples = currentTuples()
      if (tuples === undefined) return { tuples: 0, objects: 0, unknownTuples: 0, bytes: 0, bytesMax }
      const { index, unknownTuples } = tuples
      return { tuples: index.tuples, objects: index.objects.size, unknownTuples, bytes: index.bytes, bytesMax }
    },
  }
}

function allowed(path: readonly string[], isConditional: boolean): Decision {
  if (path === NO_PATH) return isConditional ? ALLOWED : ALLOWED_BY_TUPLES
  return isConditional ? { allowed: true, path } : { allowed: true, path, isUnconditional: true }
}

/** The relations that a denial shows for each permission: static, so computed once. */
function pathsOf({ types }: Model): ReadonlyMap<string, readonly string[]> {
  const askables = types.flatMap(({ askable }) => [...askable.values()])
  return new Map(askables.map((asked) => [`${asked.type.name}#${asked.name}`, grantingNames(asked)]))
}
