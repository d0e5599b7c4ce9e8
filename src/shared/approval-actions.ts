/** Actions that always wait for an approval: what they lend is not the requester's. A policy may ask for more than one. */
export const LENDING_ACTIONS = ['clouds.lend', 'credentials.lend'] as const

/** Actions that wait for an approval only where a policy names them (decisions: Held operations). */
export const HELD_ACTIONS = [
  'access.admin',
  'access.takeover',
  'admin-tokens.issue',
  'domain.delete',
  'idp.write',
  'policies.write',
  'rollouts.start',
  'secrets.delete',
  'signing-keys.rotate',
] as const

/** Every action that a policy may name, in the order in which answers list them. */
export const APPROVAL_ACTIONS = [...LENDING_ACTIONS, ...HELD_ACTIONS] as const

/** An action that a policy may name. */
export type ApprovalAction = (typeof APPROVAL_ACTIONS)[number]

/** Actions that concern the whole installation: the policy of a Domain does not name them. */
export const PLATFORM_ACTIONS: readonly ApprovalAction[] = ['signing-keys.rotate']

/** Asking for fewer approvals: waits for as many as the policy of before asked for, whatever policies name. */
export const LOOSENING = 'approval-policies.loosen'

/** What an approval may be needed for. */
export const QUEUED_ACTIONS = [...APPROVAL_ACTIONS, LOOSENING] as const

export type QueuedAction = (typeof QUEUED_ACTIONS)[number]

/** Whether approvals of that name exist. */
export function isQueuedAction(name: string): name is QueuedAction {
  const actions: readonly string[] = QUEUED_ACTIONS
  return actions.includes(name)
}

/** Approvals that an action needs at most. */
export const REQUIRED_APPROVALS_MAX = 5

/** Approvals that an action needs where no policy names it; 0: it does not wait. */
export function defaultApprovals(action: ApprovalAction): number {
  const lending: readonly string[] = LENDING_ACTIONS
  return lending.includes(action) ? 1 : 0
}

/** How long a request waits for its decision, in seconds: 1 hour to 30 days, 7 days where no policy says otherwise. */
export const APPROVAL_TTL_SECONDS = { min: 3_600, max: 2_592_000, default: 604_800 } as const
