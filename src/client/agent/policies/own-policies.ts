import type { Remote } from '../../../shared/policies/covering-rules.ts'
import { fingerprintOf } from '../../../shared/policies/fingerprint.ts'
import {
  preparePolicies,
  type PolicyEntries,
  type PreparedPolicies,
} from '../../../shared/policies/prepare-policies.ts'
import { readEntries } from '../../../shared/policies/read-entries.ts'
import type { Direction } from '../../../shared/policies/rule-types.ts'
import { sideAllows, type Flow, type SideVerdict } from '../../../shared/policies/verdict.ts'
import { canonicalTextOf } from '../state/canonical-text.ts'

/** A policy as state pulls and `policy_updated` carry it. */
export interface GivenPolicy {
  readonly policy_id: string
  readonly revision_id: string
  /** SHA-256 of the canonical rules in padded base64. */
  readonly fingerprint: string
  readonly rules: readonly unknown[]
}

/** A policy whose rules have the fingerprint that was given with them. */
export interface ReadPolicy extends PolicyEntries {
  readonly revisionId: string
  readonly fingerprint: string
  /** Number of entries that this version does not understand; they restrict the node (agent-protocol: Policies). */
  readonly unknown: number
}

/** Reads a policy; undefined if its rules do not have its fingerprint. */
export type PolicyReader = (given: GivenPolicy) => ReadPolicy | undefined

/** Makes a reader. `digest`: SHA-256 in padded base64; default: noble's, which runs everywhere. */
export function createPolicyReader(digest: (text: string) => string = fingerprintOf): PolicyReader {
  return ({ policy_id: policyId, revision_id: revisionId, fingerprint, rules }) => {
    const text = canonicalTextOf(rules)
    if (text === undefined || digest(text) !== fingerprint) return undefined
    return { policyId, revisionId, fingerprint, ...readEntries(rules) }
  }
}

/** The policies that a node has from its pulls and events. */
export interface OwnPolicies {
  /**
   * Takes the policies of a pull. One whose rules do not have its fingerprint stays as it was; returns the ids of these.
   * `updated`: ids of policies that events changed since the request was sent. They stay as they are, because the answer may be
   * older.
   */
  replace(given: readonly GivenPolicy[], updated?: ReadonlySet<string>): readonly string[]
  /**
   * Takes a `policy_updated`; without rules it removes the policy. Returns false and changes nothing if the rules do not have
   * the fingerprint.
   */
  apply(given: GivenPolicy): boolean
  /** Ordered by policy id. */
  list(): readonly ReadPolicy[]
  /** Whether the node itself lets a flow pass from (`ingress`) or to (`egress`) a peer. */
  decide(peer: Remote, flow: Flow & { readonly direction: Direction }): SideVerdict
}

const NONE: ReadonlySet<string> = new Set()

/** Makes the policies of a node that has none yet: every flow passes. */
export function createOwnPolicies(read: PolicyReader = createPolicyReader()): OwnPolicies {
  let policies = new Map<string, ReadPolicy>()
  let prepared: PreparedPolicies | undefined

  function set(changed: ReadonlyMap<string, ReadPolicy>): void {
    policies = new Map(changed)
    prepared = undefined
  }

  const list = (): readonly ReadPolicy[] =>
    [...policies.values()].toSorted((one, other) => (one.policyId < other.policyId ? -1 : 1))

  return {
    list,
    replace(given, updated = NONE) {
      const refused: string[] = []
      const pulled = new Map([...policies].filter(([policyId]) => updated.has(policyId)))
      for (const one of given.filter(({ policy_id: policyId }) => !updated.has(policyId))) {
        const policy = read(one)
        if (policy === undefined) refused.push(one.policy_id)
        const kept = policy ?? policies.get(one.policy_id)
        if (kept !== undefined) pulled.set(one.policy_id, kept)
      }
      set(pulled)
      return refused
    },
    apply(given) {
      const policy = read(given)
      if (policy === undefined) return false
      const changed = new Map(policies)
      if (given.rules.length === 0) changed.delete(given.policy_id)
      else changed.set(given.policy_id, policy)
      set(changed)
      return true
    },
    decide(peer, flow) {
      prepared ??= preparePolicies(list())
      return sideAllows(prepared, peer, flow)
    },
  }
}
