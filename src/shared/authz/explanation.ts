/** The outcome of a check. `conditional`: it depends on missing values. */
export type Outcome = 'granted' | 'denied' | 'conditional'

/** One question within a check, with the parts of its answer. */
export interface Explanation {
  /** What was evaluated: a name on an object, an operator of an expression, or one tuple. */
  readonly kind:
    | 'permission'
    | 'relation'
    | 'union'
    | 'intersection'
    | 'exclusion'
    | 'arrow'
    | 'all'
    | 'self'
    | 'nil'
    | 'tuple'
  readonly outcome: Outcome
  /** The object that it was evaluated on, `<type>:<id>`; of a tuple its resource. */
  readonly object: string
  /** The relation or permission; of an arrow `<relation>-><name>`; of a tuple its relation; empty for operators. */
  readonly name: string
  /** The subject of a tuple, `<type>:<id>`, `<type>:*` or `<type>:<id>#<relation>`. */
  readonly subject?: string
  /** The condition of the tuple. */
  readonly condition?: ExplainedCondition
  /** Why the parts are left out: the same question is elsewhere in the tree, or the tree is too large. */
  readonly omitted?: 'repeated' | 'cycle' | 'too_large'
  /** In the order of evaluation. Branches that were not needed for a grant are left out. */
  readonly parts: readonly Explanation[]
}

/** The caveat and expiry of a tuple, with their outcome. */
export interface ExplainedCondition {
  /** Empty for a tuple that only expires. */
  readonly caveat: string
  readonly outcome: Outcome
  /** Fields that are missing to evaluate the caveat. */
  readonly missing: readonly string[]
  readonly isExpired: boolean
}

/** A tuple that could be written. */
export interface ProposedTuple {
  /** `<type>:<id>`, or the group to become a member of. */
  readonly subject: string
  readonly relation: string
  readonly resource: string
}

/** A check with the tree that answered it. */
export interface ExplainedCheck {
  readonly outcome: Outcome
  readonly tree: Explanation
  /** Sets of tuples, each of which would allow it, those with the fewest tuples first; none when it is granted. */
  readonly remedies: readonly (readonly ProposedTuple[])[]
}
