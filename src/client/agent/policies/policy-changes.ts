import { createOwnPolicies, type OwnPolicies } from './own-policies.ts'
import type { PolicyUpdatedPayload } from '../../../shared/events/wire-types.ts'
import type { Member } from '../member.ts'
import type { MemberDeps } from '../agent-deps.ts'
import { isPulling } from '../state/is-pulling.ts'

/** Takes the policies of a pull, as the snapshot has them. Counts what violates the specification. */
export function applyPulledPolicies<M extends Member>(
  { mesh, statistics, actions }: MemberDeps<M>,
  node: M,
  text: string,
): void {
  const isFirst = node.policies === undefined
  const policies = (node.policies ??= createOwnPolicies(mesh.policies.read))
  const before = new Set(policies.list().map(({ revisionId }) => revisionId))
  const refused = policies.replace(mesh.policies.given(text), node.pulling.changedPolicies)
  statistics.count('bad_policies', refused.length)
  // Each revision counts once, however often it is pulled.
  for (const { revisionId, unknown } of policies.list())
    if (!before.has(revisionId)) statistics.count('unknown_entries', unknown)
  const now = policies.list()
  const isSame = now.length === before.size && now.every(({ revisionId }) => before.has(revisionId))
  if (isFirst || !isSame) actions.policiesChanged(node)
}

/** Applies a `policy_updated`. Returns false if a pull is needed: its rules do not have its fingerprint, or the first pull may lack it. */
export function applyPolicyUpdate<M extends Member>(
  { statistics, actions }: MemberDeps<M>,
  node: M,
  update: PolicyUpdatedPayload,
): boolean {
  const { policies } = node
  // Without a first pull there is nothing to change. The server will request the pull. One that is open may be answered already.
  if (policies === undefined) return !isPulling(node)
  const isApplied = policies.apply(update)
  if (!isApplied) {
    statistics.count('bad_policies')
    return false
  }
  statistics.count('unknown_entries', unknownOf(policies, update.policy_id))
  if (isPulling(node)) node.pulling.changedPolicies.add(update.policy_id)
  actions.policiesChanged(node)
  return true
}

function unknownOf(policies: OwnPolicies, policyId: string): number {
  return policies.list().find((policy) => policy.policyId === policyId)?.unknown ?? 0
}
