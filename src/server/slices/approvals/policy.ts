import {
  APPROVAL_ACTIONS,
  APPROVAL_TTL_SECONDS,
  defaultApprovals,
  LOOSENING,
  type ApprovalAction,
  type QueuedAction,
} from '../../../shared/approval-actions.ts'
import { DOMAIN_ACTIONS } from '../../../shared/contract/approval-schemas.ts'
import type { Policies } from './policy-store.ts'
import type { PolicyActions } from './tables.ts'

/** What holds for an action in a place. */
export interface Requirement {
  readonly action: ApprovalAction
  /** 0: it does not wait for approval. */
  readonly required_approvals: number
  readonly source: 'domain' | 'platform' | 'default'
}

/** What holds for one action: the stricter of both policies. Lending needs one approval at least. */
export function requirementOf({ domain, platform }: Policies, action: ApprovalAction): Requirement {
  const [own, shared] = [approvalsIn(domain?.actions, action), approvalsIn(platform?.actions, action)]
  if (own > 0 && own >= shared) return { action, required_approvals: own, source: 'domain' }
  if (shared > 0) return { action, required_approvals: shared, source: 'platform' }
  return { action, required_approvals: defaultApprovals(action), source: 'default' }
}

/** How many approvals a request of the action needs; 0: it does not wait. */
export function approvalsFor(policies: Policies, action: QueuedAction): number {
  return action === LOOSENING ? 0 : requirementOf(policies, action).required_approvals
}

/** What holds for every action that concerns the place. */
export function requirementsIn(domainId: string | null, policies: Policies): Requirement[] {
  const actions = domainId === null ? APPROVAL_ACTIONS : DOMAIN_ACTIONS
  return actions.map((action) => requirementOf(policies, action))
}

/** How long a request waits, in seconds. */
export function ttlOf({ domain, platform }: Policies): number {
  return domain?.ttl_seconds ?? platform?.ttl_seconds ?? APPROVAL_TTL_SECONDS.default
}

/** The largest number of approvals that the actions ask for; 0 where they name none. */
export function mostApprovals(actions: PolicyActions): number {
  return Math.max(0, ...APPROVAL_ACTIONS.map((action) => approvalsIn(actions, action)))
}

/** The actions for which `actions` asks for fewer approvals than the policy of the platform, with what that asks for. */
export function belowPlatform(actions: PolicyActions, platform: PolicyActions): readonly Requirement[] {
  return APPROVAL_ACTIONS.flatMap((action) => {
    const [own, shared] = [approvalsIn(actions, action), approvalsIn(platform, action)]
    return own > 0 && own < shared ? [{ action, required_approvals: shared, source: 'platform' as const }] : []
  })
}

/**
 * The approvals that a policy with these actions has to wait for: the most that the old one asks for any action of which
 * it would ask for fewer; 0 where it asks for no fewer.
 */
export function approvalsToLoosen(domainId: string | null, policies: Policies, wanted: PolicyActions): number {
  const own = domainId === null ? policies.platform?.actions : policies.domain?.actions
  const loosened = APPROVAL_ACTIONS.map((action) => [approvalsIn(own, action), approvalsIn(wanted, action)] as const)
  return Math.max(0, ...loosened.flatMap(([before, after]) => (after < before ? [before] : [])))
}

function approvalsIn(actions: PolicyActions | undefined, action: ApprovalAction): number {
  return actions?.[action]?.required_approvals ?? 0
}
