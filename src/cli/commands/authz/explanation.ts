import type { Explanation as Explained, Outcome as Came, ProposedTuple } from '../../../shared/authz/explanation.ts'

export type Outcome = Came
export type { ProposedTuple }

/** One question within a check, as the API answers it: what the caller may not read is `hidden` and says nothing else. */
export interface Explanation {
  readonly kind: Explained['kind'] | 'hidden'
  readonly outcome?: Outcome
  readonly object?: string
  readonly name?: string
  readonly subject?: string
  readonly condition?: {
    readonly caveat: string
    readonly outcome: Outcome
    readonly missing: readonly string[]
    readonly is_expired: boolean
  }
  readonly omitted?: NonNullable<Explained['omitted']>
  readonly parts: readonly Explanation[]
}

/** The answer of an explained check. */
export interface ExplainedCheck {
  readonly decision: 'allowed' | 'denied'
  readonly tree: Explanation
  readonly remedies: readonly (readonly ProposedTuple[])[]
}
