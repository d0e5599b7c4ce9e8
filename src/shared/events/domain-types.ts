/** Types of the events of a Domain. Clients tolerate others: a later server may have more. */
export const DOMAIN_EVENT_TYPES = [
  'approval.approved',
  'approval.expired',
  'approval.rejected',
  'approval.requested',
  'approval.withdrawn',
  'approval_policy.updated',
  'bridge.changed',
  'capacity.crossed',
  'capacity.targets_updated',
  'cloud_assignment.requested',
  'cloud_assignment.revoked',
  'credential_assignment.requested',
  'credential_assignment.revoked',
  'domain.deleted',
  'domain.updated',
  'execution.cancelled',
  'execution.requested',
  'grant.created',
  'grant.deleted',
  'group.changed',
  'group.created',
  'group.deleted',
  'integrity.acknowledged',
  'integrity.opened',
  'integrity.resolved',
  'labels.changed',
  'mesh.changed',
  'node.deregistered',
  'node.key_rotated',
  'node.reachability_changed',
  'node.registered',
  'node.renamed',
  'policy.changed',
  'policy.deleted',
  'project.created',
  'project.deleted',
  'project.updated',
  'resource.created',
  'resource.deleted',
  'resource.updated',
  'rollout.cancelled',
  'rollout.completed',
  'rollout.created',
  'rollout.halted',
  'rollout.started',
  'secret.changed',
  'service_identity.created',
  'service_identity.deleted',
  'service_identity.updated',
  'session.closed',
  'session.opened',
  'stream.resync',
  'webhook.disabled',
] as const

export type DomainEventType = (typeof DOMAIN_EVENT_TYPES)[number]

/** Reachability of a node, as its events name it. */
export const REACHABILITIES = ['never_reported', 'healthy', 'stale', 'unreachable'] as const

/** What an event of a Domain carries: which object, and for some types what became of it. Never names, values or secrets. */
export interface DomainEventPayload {
  /** The object that changed, `<type>:<id>`; `domain:<id>` where everything may have changed. */
  readonly object: string
  /** Of `node.reachability_changed`. */
  readonly from?: (typeof REACHABILITIES)[number]
  readonly to?: (typeof REACHABILITIES)[number]
  /** Of events of sessions and executions, whose object is the node. */
  readonly session_id?: string
  readonly execution_id?: string
}
