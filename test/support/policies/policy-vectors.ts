import { compilePolicy } from '../../../src/shared/policies/compile-policy.ts'
import { readEntries } from '../../../src/shared/policies/read-entries.ts'
import type { AuthoredPolicy } from '../../../src/shared/policies/rule-types.ts'
import { mayExchange, verdictOf, type Flow, type Party } from '../../../src/shared/policies/verdict.ts'

/** A node of a vector: what a state pull says of it, and the policies of its own. */
export interface VectorNode {
  readonly groups: readonly number[]
  readonly mesh_address: string
  readonly policies: readonly { readonly policy_id: string; readonly rules: readonly unknown[] }[]
}

/** What is to be compiled, with the group of each selector. */
export interface CompilerInput {
  readonly policy: AuthoredPolicy
  readonly groups: Readonly<Record<string, number>>
}

/** Nodes by name, and flows between them. */
export interface WorldInput {
  readonly nodes: Readonly<Record<string, VectorNode>>
  readonly flows: readonly (Flow & { readonly from: string; readonly to: string })[]
}

export type PolicyInput = CompilerInput | WorldInput

/** What this implementation makes of the input of a vector. */
export function policyAnswer(input: PolicyInput): object {
  return 'policy' in input ? compiled(input) : verdicts(input)
}

function compiled({ policy, groups }: CompilerInput): object {
  const { text, fingerprint } = compilePolicy(policy, (selector) => groups[selector] ?? Number.NaN)
  return { text, fingerprint }
}

function verdicts({ nodes, flows }: WorldInput): object {
  const parties = new Map(Object.entries(nodes).map(([name, node]) => [name, partyOf(node)]))
  const named = (name: string): Party => {
    const party = parties.get(name)
    if (party === undefined) throw new Error(`the vector has no node ${name}`)
    return party
  }
  const names = [...parties.keys()].toSorted()
  const pairs = names.flatMap((one, index) => names.slice(index + 1).map((other) => [one, other] as const))
  return {
    verdicts: flows.map(({ from, to, ...flow }) => {
      const { allowed, egress, ingress } = verdictOf(named(from), named(to), flow)
      return { allowed, egress: sideOf(egress), ingress: sideOf(ingress) }
    }),
    may_exchange: pairs.filter(([one, other]) => mayExchange(named(one), named(other))),
  }
}

function sideOf({ isolated, allowed }: { readonly isolated: boolean; readonly allowed: boolean }): object {
  return { isolated, allowed }
}

function partyOf({ groups, mesh_address, policies }: VectorNode): Party {
  return {
    groups,
    meshAddress: mesh_address,
    policies: policies.map(({ policy_id, rules }) => ({ policyId: policy_id, entries: readEntries(rules).entries })),
  }
}
