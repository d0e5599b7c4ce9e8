import type { PeerChange, StateBlock } from '../../shared/events/wire-types.ts'
import type { OutboxLiteral } from '../ports/outbox-literals.ts'

/** Which nodes hear of an outbox event, and as what. */
export type Audience =
  | { readonly to: 'nobody' }
  /** The Domain's other nodes hear what became of their peer, in a hint. */
  | { readonly to: 'peers'; readonly change: PeerChange['changes'][number] }
  /** The node itself hears that a part of its state changed, in a hint. */
  | { readonly to: 'own-block'; readonly block: StateBlock }
  /** The node itself gets the payload. */
  | { readonly to: 'node'; readonly type: 'action_request' | 'session_setup' }
  /** Nodes that the policy matches, or no longer does. */
  | { readonly to: 'matched'; readonly change: 'revised' | 'deleted' }
  /** Hosts of the bridge resource, and those that were. */
  | { readonly to: 'hosts' }

const NOBODY: Audience = { to: 'nobody' }
const HOSTS: Audience = { to: 'hosts' }

/** S0 Outbox to wire mapping: who hears of each literal. Nothing has an audience by default. */
export const AUDIENCES: Readonly<Record<OutboxLiteral, Audience>> = {
  APITokenIssued: NOBODY,
  APITokenRevoked: NOBODY,
  APITokenRotated: NOBODY,
  DomainCreated: NOBODY,
  DomainDeleted: NOBODY,
  DomainUpdated: NOBODY,
  GrantCreated: NOBODY,
  GrantDeleted: NOBODY,
  GroupCreated: NOBODY,
  GroupDeleted: NOBODY,
  GroupMemberAdded: NOBODY,
  GroupMemberRemoved: NOBODY,
  GroupUpdated: NOBODY,
  IdPBindingCreated: NOBODY,
  IdPBindingDeleted: NOBODY,
  IdPBindingUpdated: NOBODY,
  LocalAccountCreated: NOBODY,
  LocalAccountDeleted: NOBODY,
  LocalAccountUpdated: NOBODY,
  NodeReachabilityChanged: NOBODY,
  ProjectCreated: NOBODY,
  ProjectDeleted: NOBODY,
  ProjectUpdated: NOBODY,
  RelationTupleCreated: NOBODY,
  RelationTupleDeleted: NOBODY,
  ResourceCreated: NOBODY,
  ResourceDeleted: NOBODY,
  ResourceUpdated: NOBODY,
  ServiceIdentityDeleted: NOBODY,
  ServiceIdentityProvisioned: NOBODY,
  ServiceIdentityUpdated: NOBODY,
  SigningKeysRotated: NOBODY,
  'bridge.PublicIngressRuleConfigured': HOSTS,
  'bridge.PublicIngressRuleRemoved': HOSTS,
  'bridge.RelayConfigured': HOSTS,
  'bridge.SiteToSiteTunnelConfigured': HOSTS,
  'bridge.SiteToSiteTunnelRemoved': HOSTS,
  'bridge.UserAccessProviderConfigured': HOSTS,
  'bridge.UserAccessProviderRemoved': HOSTS,
  execution_cancelled: { to: 'own-block', block: 'executions' },
  execution_requested: { to: 'node', type: 'action_request' },
  'identity.ServiceIdentityAuthenticated': NOBODY,
  'identity.UserProvisioned': NOBODY,
  'identity.UserSignedIn': NOBODY,
  'identity.UserSignedOut': NOBODY,
  peer_deregistered: { to: 'peers', change: 'deregistered' },
  peer_endpoint_changed: { to: 'peers', change: 'endpoint_changed' },
  peer_key_rotated: { to: 'peers', change: 'key_rotated' },
  peer_psk_assigned: { to: 'peers', change: 'psk_assigned' },
  peer_registered: { to: 'peers', change: 'registered' },
  policy_deleted: { to: 'matched', change: 'deleted' },
  policy_revision_created: { to: 'matched', change: 'revised' },
  rotate_keys: { to: 'own-block', block: 'keys' },
  session_issued: { to: 'node', type: 'session_setup' },
  session_revoked: { to: 'own-block', block: 'sessions' },
}

/** Literals that the table says nothing of. The compiler sees to it that there is none, unless it was told otherwise. */
export function withoutAudience(literals: readonly string[], table: Readonly<Record<string, Audience>>): string[] {
  return literals.filter((literal) => !Object.hasOwn(table, literal))
}
