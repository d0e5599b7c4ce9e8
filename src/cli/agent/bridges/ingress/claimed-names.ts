import type { CheckedRule } from './checked-rule.ts'

/** Rules of each bridge, by its id. */
export type RulesByBridge = ReadonlyMap<string, readonly CheckedRule[]>

/** The rules that are in force, and those whose name a bridge with a lower id has. */
export interface Claims {
  /** Exact names before wildcards, and otherwise by name. */
  readonly inForce: readonly CheckedRule[]
  readonly shadowed: readonly { readonly rule: CheckedRule; readonly by: CheckedRule }[]
}

/** Gives each name to the bridge with the lowest id that wants it. */
export function claimNames(bridges: RulesByBridge): Claims {
  const owners = new Map<string, CheckedRule>()
  const shadowed: { readonly rule: CheckedRule; readonly by: CheckedRule }[] = []
  const ascending = [...bridges].toSorted(([one], [other]) => (one < other ? -1 : 1))
  for (const rule of ascending.flatMap(([, rules]) => rules)) {
    const owner = owners.get(rule.host)
    if (owner === undefined) owners.set(rule.host, rule)
    else shadowed.push({ rule, by: owner })
  }
  return { inForce: [...owners.values()].toSorted(byHost), shadowed }
}

/** `*` sorts before letters and digits, so wildcards come first. */
function byHost({ host: one }: CheckedRule, { host: other }: CheckedRule): number {
  const [isOneWild, isOtherWild] = [one.startsWith('*'), other.startsWith('*')]
  if (isOneWild !== isOtherWild) return isOneWild ? 1 : -1
  return one < other ? -1 : 1
}
