import { canonicalize } from '../../../shared/canonical-json.ts'
import type { policies } from '../../../shared/contract/policies.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { compilePolicy } from '../../../shared/policies/compile-policy.ts'
import type { AuthoredRule, CompiledEntry } from '../../../shared/policies/rule-types.ts'
import type { SideVerdict } from '../../../shared/policies/verdict.ts'

type SideAnswer = Result<(typeof policies)['operations']['CheckReachability']>['egress']

/** A policy that a verdict may name. */
export interface NamedPolicy {
  /** As verdicts name it. */
  readonly key: string
  /** Null for a policy that is not stored. */
  readonly id: string | null
  readonly slug: string
  readonly rules: readonly AuthoredRule[]
  readonly entries: readonly CompiledEntry[]
}

/**
 * Says of the verdict of one end which policy and which rule decide. Rules are named as their author wrote them: of rules that compile
 * to the same entry, the first. `groups` are the numbers of canonical selectors.
 */
export function createSideAnswers(
  named: readonly NamedPolicy[],
  groups: ReadonlyMap<string, number>,
): (side: SideVerdict) => SideAnswer {
  const byKey = new Map(named.map((policy) => [policy.key, policy]))

  function ruleOf({ rules, entries }: NamedPolicy, entry: number): number | undefined {
    const text = canonicalize(entries[entry])
    const index = rules.findIndex((rule) => {
      const groupOf = (selector: string): number => groups.get(selector) ?? NO_GROUP
      const { rules: compiled } = compilePolicy({ isolates: [], rules: [rule] }, groupOf)
      return canonicalize(compiled[0]) === text
    })
    return index === -1 ? undefined : index
  }

  return ({ isolated, allowed, by }) => {
    const policy = byKey.get(by?.policyId ?? '')
    if (policy === undefined || by === undefined) return { isolated, allowed }
    const { id, slug } = policy
    const rule = ruleOf(policy, by.entry)
    return {
      isolated,
      allowed,
      ...(id !== null && { policy_id: id }),
      policy: slug,
      ...(rule !== undefined && { rule }),
    }
  }
}

/** For a selector whose group went between two reads: larger than any number that is given. */
const NO_GROUP = Number.MAX_SAFE_INTEGER
