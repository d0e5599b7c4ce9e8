import type { AuthoredRule, Direction, RuleProtocol } from './rule-types.ts'

/** What must hold for every pair of nodes that two selectors match. */
export interface PolicyTest {
  /** Selectors. */
  readonly from: string
  readonly to: string
  readonly protocol: Exclude<RuleProtocol, 'any'>
  /** Only for `tcp` and `udp`; absent: some port. */
  readonly port?: number | undefined
  readonly expect: 'allowed' | 'denied'
}

/** A policy as its author wrote it, without its name. Its selectors are canonical once it is stored. */
export interface PolicyDocument {
  readonly selector: string
  readonly isolates?: readonly Direction[] | undefined
  readonly rules: readonly AuthoredRule[]
  readonly tests: readonly PolicyTest[]
}

/** Tests of one policy, at most. */
export const POLICY_TESTS_MAX = 64
/** Policies of one Domain, at most. */
export const POLICIES_MAX = 256
