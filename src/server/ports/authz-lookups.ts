import type { CaveatFacts } from './authorizer.ts'
import type { LongQuestion } from './caller-gone.ts'

export interface ResourcesQuery extends LongQuestion {
  /** `<type>:<id>`. */
  readonly subject: string
  readonly relation: string
  readonly resourceType: string
  readonly facts: CaveatFacts
  /** Names of the facts that caveats may read. */
  readonly allowedFacts: ReadonlySet<string>
}

/** A question about whatever a caller may see, with all the facts that the server knows of it, as gates ask. */
export interface FewResourcesQuery extends Omit<ResourcesQuery, 'allowedFacts' | 'isAbandoned'> {
  /** The most ids to find, one at least. */
  readonly max: number
}

export interface SubjectsQuery extends LongQuestion {
  readonly subjectType: string
  readonly relation: string
  /** `<type>:<id>`. */
  readonly resource: string
  readonly facts: CaveatFacts
  /** Names of the facts that caveats may read. */
  readonly allowedFacts: ReadonlySet<string>
}

/**
 * Finds whole sets: what a subject may do something to, and who may. Results are those that hold without further
 * conditions, each once, as `<type>:<id>`, in the order of the revision that made their first tuple, then id
 * (decisions: Lookup order). The first tuple of an object is the live one of the lowest revision among those that have it
 * as their resource or, where there are none, as their subject.
 * All results are from one state of the tuples, at the latest revision or one of those while the lookup is under way.
 * @throws Problem `invalid_triple` for malformed references and unknown names, `authz_unavailable`; `CallerGone`.
 */
export interface AuthzLookups {
  resources(query: ResourcesQuery): readonly string[] | Promise<readonly string[]>
  /**
   * The ids of at most `max` objects, each once, in no order: every one that `check` allows now is among them, and some may be that
   * it does not allow, because of their caveats. Undefined where there are more, or where finding them would take more work
   * than some times `max`. Never from memory: an outage of the engine is an error (S1 Degradation 2).
   */
  fewResources(query: FewResourcesQuery): readonly string[] | undefined | Promise<readonly string[] | undefined>
  /** `<type>:*` means everyone of the type. */
  subjects(query: SubjectsQuery): readonly string[] | Promise<readonly string[]>
}
