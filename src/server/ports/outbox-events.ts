import { z } from 'zod'
import type { PeerChange, StateBlock } from '../../shared/events/wire-types.ts'

/** Which nodes receive an outbox event, and in what form (S0 Outbox to wire mapping). */
export type Audience =
  | { readonly to: 'nobody' }
  /** The other nodes of the Domain receive the change of their peer, in a hint. */
  | { readonly to: 'peers'; readonly change: PeerChange['changes'][number] }
  /** The node itself receives a hint that this block of its state changed. */
  | { readonly to: 'own-block'; readonly block: StateBlock }
  /** The node itself receives the payload. */
  | { readonly to: 'node'; readonly type: 'action_request' | 'session_setup' }
  /** The nodes that the policy matches, and those that it matched before. */
  | { readonly to: 'matched'; readonly change: 'revised' | 'deleted' }
  /** The present and former hosts of the bridge resource. */
  | { readonly to: 'hosts' }

interface Declared<Payload extends z.ZodType> {
  /** Names and ids; never a secret. */
  readonly payload: Payload
  readonly audience: Audience
}

/** The member by which the relay finds the node of an event. */
export const aboutNode = z.object({ node_id: z.uuid() })

/** The members of an event that the relay passes on to the node's peers. */
export const aboutPeer = aboutNode.extend({
  endpoint: z.string().optional(),
  fallback_endpoint: z.string().optional(),
  public_key: z.string().optional(),
  mesh_address: z.string().optional(),
  psk_issued_at: z.string().optional(),
})

/** The member by which the relay finds the bridge resource of an event. */
export const aboutBridge = z.object({ bridge_resource_id: z.uuid() })

const aboutPolicyRevision = z.object({ policy_id: z.uuid(), revision_id: z.uuid() })

type About<Schema extends z.ZodType> = z.ZodType<z.output<Schema>>

function toNobody<P extends z.ZodType>(payload: P): Declared<P> {
  return { payload, audience: { to: 'nobody' } }
}

function toPeers<P extends About<typeof aboutPeer>>(change: PeerChange['changes'][number], payload: P): Declared<P> {
  return { payload, audience: { to: 'peers', change } }
}

function toOwnBlock<P extends About<typeof aboutNode>>(block: StateBlock, payload: P): Declared<P> {
  return { payload, audience: { to: 'own-block', block } }
}

function toNode<P extends About<typeof aboutNode>>(type: 'action_request' | 'session_setup', payload: P): Declared<P> {
  return { payload, audience: { to: 'node', type } }
}

function toMatched<P extends About<typeof aboutPolicyRevision>>(
  change: 'revised' | 'deleted',
  payload: P,
): Declared<P> {
  return { payload, audience: { to: 'matched', change } }
}

function toHosts(): Declared<typeof aboutBridge> {
  return { payload: aboutBridge, audience: { to: 'hosts' } }
}

const text = z.string()
const domain = z.object({ domain_id: text, slug: text })
const project = z.object({ project_id: text, slug: text })
const resource = z.object({ resource_id: text, project_id: text, kind: text, slug: text })
const group = z.object({ group_id: text, slug: text })
const member = group.extend({ subject: text })
const grant = z.object({ tuple_id: text, subject: text, relation: text })
const tuple = grant.extend({ project_id: text.nullable() })
const account = z.object({ account_id: text })
const serviceIdentity = z.object({ service_identity_id: text, display_name: text })
const changedServiceIdentity = serviceIdentity.extend({ disabled: z.boolean() })
const token = z.object({ token_id: text, owner: text })
const binding = z.object({ binding_id: text, alias: text, issuer: text })

/**
 * Every event that a change may append to the outbox: its literal, its payload and its audience. A literal that is not
 * here, and a payload of another shape, do not compile in `Change.emit`.
 */
export const OUTBOX_EVENTS = {
  // tenancy
  DomainCreated: toNobody(domain),
  DomainUpdated: toNobody(domain),
  DomainDeleted: toNobody(domain),
  ProjectCreated: toNobody(project),
  ProjectUpdated: toNobody(project),
  ProjectDeleted: toNobody(project),
  ResourceCreated: toNobody(resource),
  ResourceUpdated: toNobody(resource),
  ResourceDeleted: toNobody(resource),
  GroupCreated: toNobody(group),
  GroupUpdated: toNobody(group),
  GroupDeleted: toNobody(group),
  GroupMemberAdded: toNobody(member),
  GroupMemberRemoved: toNobody(member),

  // authorization
  GrantCreated: toNobody(grant),
  GrantDeleted: toNobody(grant),
  RelationTupleCreated: toNobody(tuple),
  RelationTupleDeleted: toNobody(tuple),

  // identities and tokens
  ServiceIdentityProvisioned: toNobody(serviceIdentity),
  ServiceIdentityUpdated: toNobody(changedServiceIdentity),
  ServiceIdentityDeleted: toNobody(changedServiceIdentity),
  LocalAccountCreated: toNobody(account),
  LocalAccountUpdated: toNobody(account),
  LocalAccountDeleted: toNobody(account),
  APITokenIssued: toNobody(token),
  APITokenRotated: toNobody(token.extend({ rotated_to: text, retires_at: text })),
  APITokenRevoked: toNobody(token),

  // signing in
  IdPBindingCreated: toNobody(binding),
  IdPBindingUpdated: toNobody(binding.extend({ active: z.boolean(), sessions_revoked: z.number() })),
  IdPBindingDeleted: toNobody(binding.extend({ sessions_revoked: z.number() })),
  'identity.UserProvisioned': toNobody(z.object({ user_id: text, binding_id: text })),
  'identity.UserSignedIn': toNobody(z.object({ user_id: text, binding_id: text, session_id: text })),
  'identity.UserSignedOut': toNobody(z.object({ sessions_revoked: z.number() })),
  'identity.ServiceIdentityAuthenticated': toNobody(
    z.object({ service_identity_id: text, grant: text, token_id: text }),
  ),

  // nodes and their keys
  NodeReachabilityChanged: toNobody(z.object({ node_id: text, from: text, to: text, changed_at: text })),
  SigningKeysRotated: toNobody(z.object({ kid: text, previous_kid: text })),
  peer_registered: toPeers('registered', aboutPeer.extend({ name: text, mesh_address: text, public_key: text })),
  peer_deregistered: toPeers('deregistered', aboutPeer.extend({ name: text })),
  peer_endpoint_changed: toPeers('endpoint_changed', aboutPeer.extend({ endpoint: text })),
  peer_key_rotated: toPeers('key_rotated', aboutPeer.extend({ public_key: text })),
  peer_psk_assigned: toPeers('psk_assigned', aboutPeer.extend({ psk_issued_at: text })),
  rotate_keys: toOwnBlock('keys', aboutNode.extend({ rotation_id: text })),

  // executions and mediated sessions
  execution_requested: toNode(
    'action_request',
    aboutNode.extend({
      execution_id: text,
      action: text,
      type: z.enum(['builtin', 'hook']),
      parameters: z.record(text, z.unknown()).optional(),
      status: text,
      requested_at: text,
      expires_at: text,
    }),
  ),
  execution_cancelled: toOwnBlock('executions', aboutNode.extend({ execution_id: text })),
  session_issued: toNode(
    'session_setup',
    aboutNode.extend({
      session_id: text,
      jti: text,
      kind: z.enum(['ssh', 'cluster_api', 'tcp']),
      target: text,
      expires_at: text,
      idle_timeout_seconds: z.number().optional(),
    }),
  ),
  session_revoked: toOwnBlock('sessions', aboutNode.extend({ session_id: text })),

  // policies and bridges
  policy_revision_created: toMatched('revised', aboutPolicyRevision),
  /** The nodes are those that the policy matched when it was deleted: its rows are gone. */
  policy_deleted: toMatched('deleted', aboutPolicyRevision.extend({ node_ids: z.array(z.uuid()) })),
  'bridge.PublicIngressRuleConfigured': toHosts(),
  'bridge.PublicIngressRuleRemoved': toHosts(),
  'bridge.RelayConfigured': toHosts(),
  'bridge.SiteToSiteTunnelConfigured': toHosts(),
  'bridge.SiteToSiteTunnelRemoved': toHosts(),
  'bridge.UserAccessProviderConfigured': toHosts(),
  'bridge.UserAccessProviderRemoved': toHosts(),
} as const satisfies { readonly [literal: string]: Declared<z.ZodType> }

export type OutboxLiteral = keyof typeof OUTBOX_EVENTS

export type OutboxPayload<Literal extends OutboxLiteral> = Readonly<z.input<(typeof OUTBOX_EVENTS)[Literal]['payload']>>

interface OutboxEventOf<Literal extends OutboxLiteral> {
  readonly event: Literal
  readonly domainId: string | null
  /** What changed, `<type>:<id>`. */
  readonly aggregate: string
  readonly payload: OutboxPayload<Literal>
}

/** An outbox event of one of the literals, each with its own payload. */
export type OutboxEvent<Literal extends OutboxLiteral = OutboxLiteral> = {
  [Each in Literal]: OutboxEventOf<Each>
}[Literal]
