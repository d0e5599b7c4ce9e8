/** What the server itself knows of the moment; caveats read it, callers never supply it (decisions: Caveats). */
export interface CaveatFacts {
  readonly nowMs: number
  /** Only for the caller itself. */
  readonly sourceIp?: string
  readonly acr?: string
  readonly authTimeMs?: number
}

export interface CheckQuery {
  /** `<type>:<id>`, with the API's names. `<type>:*` is refused as malformed. */
  readonly subject: string
  readonly relation: string
  /** `<type>:<id>`. */
  readonly resource: string
  readonly facts: CaveatFacts
  /** Names of the facts a caveat may read; absent: all that are known (gates). */
  readonly allowedFacts?: ReadonlySet<string>
  /** Whether the path of a grant is wanted; costs a little. */
  readonly wantPath: boolean
  /**
   * Whether a recent answer will do while the engine is out of reach: for checks, and for gates of reads. What changes
   * something is never decided from memory (S1 Degradation 2).
   */
  readonly mayBeStale?: boolean
}

export type Decision = (Grant | Denial) & DecisionNotes

interface Grant {
  readonly allowed: true
  /** Relation names in order; empty for a direct binding. */
  readonly path: readonly string[]
}

interface Denial {
  readonly allowed: false
  readonly reason: 'insufficient_relation' | 'caveat_violation'
}

interface DecisionNotes {
  /** That neither a caveat nor an expiry was consulted: tuples alone decided. Absent where that is not known. */
  readonly isUnconditional?: true
  /** Since when the engine has been out of reach, in ms, where this is an earlier answer given again. */
  readonly staleSinceMs?: number
}

/** The place of an object: the id of its Domain, `null` for the platform, undefined for an object that is not known. */
export type OwningDomain = string | null | undefined

/** Decides who may do what. A plain value where the answer is in memory, so that hot paths do not await. */
export interface Authorizer {
  readonly kind: 'embedded' | 'spicedb'
  /** @throws Problem `invalid_triple` for malformed references, `authz_unavailable` when the answer cannot be trusted now. */
  check(query: CheckQuery): Decision | Promise<Decision>
  /** Relation names that grant `relation` on that type, in evaluation order: what a denial shows as the traversed path. Static. */
  pathOf(resourceType: string, relation: string): readonly string[]
  /**
   * The Domain of an object: of a Domain its own id, `null` where it belongs to the platform itself, undefined
   * where there is no such object. Follows parent edges; a plain value wherever `check` gives one.
   * @throws Problem `authz_unavailable` when the answer cannot be trusted now.
   */
  domainOf(reference: string): OwningDomain | Promise<OwningDomain>
  /** Whether the schema knows the pair. */
  hasRelation(resourceType: string, relation: string): boolean
}
