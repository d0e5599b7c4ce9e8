import type { DomainEventType } from '../../../shared/events/domain-types.ts'
import type { OutboxLiteral } from '../../ports/outbox-events.ts'

/**
 * What the readers of a Domain's stream receive of each outbox event. Those that are absent are not sent: they concern one node's
 * state only, or the sign-in of a person. Several literals may be one type, since readers look at the object anyway.
 */
export const EVENT_TYPES: { readonly [Literal in OutboxLiteral]?: DomainEventType } = {
  ApprovalApproved: 'approval.approved',
  ApprovalExpired: 'approval.expired',
  ApprovalPolicyUpdated: 'approval_policy.updated',
  ApprovalRejected: 'approval.rejected',
  ApprovalRequested: 'approval.requested',
  ApprovalWithdrawn: 'approval.withdrawn',
  'bridge.PublicIngressRuleConfigured': 'bridge.changed',
  'bridge.PublicIngressRuleRemoved': 'bridge.changed',
  'bridge.RelayConfigured': 'bridge.changed',
  'bridge.SiteToSiteTunnelConfigured': 'bridge.changed',
  'bridge.SiteToSiteTunnelRemoved': 'bridge.changed',
  'bridge.UserAccessProviderConfigured': 'bridge.changed',
  'bridge.UserAccessProviderRemoved': 'bridge.changed',
  CapacityTargetsUpdated: 'capacity.targets_updated',
  CapacityThresholdCrossed: 'capacity.crossed',
  CloudAssignmentRequested: 'cloud_assignment.requested',
  CloudAssignmentRevoked: 'cloud_assignment.revoked',
  CredentialAssignmentRequested: 'credential_assignment.requested',
  CredentialAssignmentRevoked: 'credential_assignment.revoked',
  DomainDeleted: 'domain.deleted',
  DomainUpdated: 'domain.updated',
  domain_relays_changed: 'mesh.changed',
  domain_subnets_changed: 'mesh.changed',
  execution_cancelled: 'execution.cancelled',
  execution_requested: 'execution.requested',
  GrantCreated: 'grant.created',
  GrantDeleted: 'grant.deleted',
  GroupCreated: 'group.created',
  GroupDeleted: 'group.deleted',
  GroupMemberAdded: 'group.changed',
  GroupMemberRemoved: 'group.changed',
  GroupUpdated: 'group.changed',
  IntegrityViolationAcknowledged: 'integrity.acknowledged',
  IntegrityViolationOpened: 'integrity.opened',
  IntegrityViolationResolved: 'integrity.resolved',
  LabelAssigned: 'labels.changed',
  LabelRemoved: 'labels.changed',
  NodeReachabilityChanged: 'node.reachability_changed',
  peer_deregistered: 'node.deregistered',
  peer_key_rotated: 'node.key_rotated',
  peer_registered: 'node.registered',
  peer_relay_changed: 'mesh.changed',
  peer_renamed: 'node.renamed',
  peer_subnets_changed: 'mesh.changed',
  policy_deleted: 'policy.deleted',
  policy_revision_created: 'policy.changed',
  ProjectCreated: 'project.created',
  ProjectDeleted: 'project.deleted',
  ProjectUpdated: 'project.updated',
  ResourceCreated: 'resource.created',
  ResourceDeleted: 'resource.deleted',
  ResourceUpdated: 'resource.updated',
  RolloutCancelled: 'rollout.cancelled',
  RolloutCompleted: 'rollout.completed',
  RolloutCreated: 'rollout.created',
  RolloutHalted: 'rollout.halted',
  RolloutStarted: 'rollout.started',
  SecretDeleted: 'secret.changed',
  SecretVersionCreated: 'secret.changed',
  ServiceIdentityDeleted: 'service_identity.deleted',
  ServiceIdentityProvisioned: 'service_identity.created',
  ServiceIdentityUpdated: 'service_identity.updated',
  session_issued: 'session.opened',
  session_revoked: 'session.closed',
  WebhookDisabled: 'webhook.disabled',
}

const TYPES: ReadonlyMap<string, DomainEventType> = new Map(Object.entries(EVENT_TYPES))

/** Literals of the outbox that readers receive. */
export const LITERALS: readonly string[] = [...TYPES.keys()]

/** The type of a literal; undefined where it is not sent. */
export function typeOf(literal: string): DomainEventType | undefined {
  return TYPES.get(literal)
}
