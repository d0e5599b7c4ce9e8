import { z } from 'zod'
import type { PeerChange, StateBlock } from '../../shared/events/wire-types.ts'

/** Which nodes receive an outbox event, and in what form (S0 Outbox to wire mapping). */
export type Audience =
  | { readonly to: 'nobody' }
  /** The other nodes of the Domain receive the change of their peer, in a hint. */
  | { readonly to: 'peers'; readonly change: PeerChange['changes'][number] }
  /** The nodes of the Domain receive the change of a policy group, in a hint. */
  | { readonly to: 'group' }
  /** The node itself receives a hint that this block of its state changed. */
  | { readonly to: 'own-block'; readonly block: StateBlock }
  /** The node itself receives the payload. */
  | { readonly to: 'node'; readonly type: 'action_request' | 'session_setup' }
  /** The nodes that the policy matches, and those that it matched before. */
  | { readonly to: 'matched' }
  /** The present and former hosts of the bridge resource. */
  | { readonly to: 'hosts' }
  /** The hosts of bridges that name the secret without a version receive a hint of their block `bridge`. */
  | { readonly to: 'secret-hosts' }
  /** The nodes of the Domain that see other peers than before receive a hint. */
  | { readonly to: 'viewers' }
  /** All nodes of the Domain receive a hint to pull. */
  | { readonly to: 'domain' }

interface Declared<Payload extends z.ZodType> {
  /** Names and ids; never a secret. */
  readonly payload: Payload
  readonly audience: Audience
}

/** Payload and audience of each of some literals. */
export interface OutboxDeclarations {
  readonly [literal: string]: Declared<z.ZodType>
}

/** The member by which the relay finds the node of an event. */
export const aboutNode = z.object({ node_id: z.uuid() })

/** The members of an event that the relay passes on to the node's peers. */
export const aboutPeer = aboutNode.extend({
  name: z.string().optional(),
  endpoint: z.string().optional(),
  fallback_endpoint: z.string().optional(),
  public_key: z.string().optional(),
  mesh_address: z.string().optional(),
  psk_issued_at: z.string().optional(),
  groups: z.array(z.int()).optional(),
  candidates: z.array(z.string()).optional(),
  subnets: z.array(z.string()).optional(),
})

/** The members of an event by which the relay finds a group and the nodes that joined or left it. */
export const aboutGroup = z.object({
  group: z.int(),
  added: z.array(z.uuid()).optional(),
  removed: z.array(z.uuid()).optional(),
})

/** The member by which the relay finds the bridge resource of an event. */
export const aboutBridge = z.object({ bridge_resource_id: z.uuid() })

/** The members by which the relay finds the bridges that name a secret. */
export const aboutSecret = z.object({ project_id: z.uuid(), name: z.string() })

const aboutPolicyRevision = z.object({ policy_id: z.uuid(), revision_id: z.uuid() })

/** The revision of the Domain's peers that the change raised. */
export const aboutVisibility = z.object({ revision: z.int() })

type About<Schema extends z.ZodType> = z.ZodType<z.output<Schema>>

export function toNobody<P extends z.ZodType>(payload: P): Declared<P> {
  return { payload, audience: { to: 'nobody' } }
}

export function toPeers<P extends About<typeof aboutPeer>>(
  change: PeerChange['changes'][number],
  payload: P,
): Declared<P> {
  return { payload, audience: { to: 'peers', change } }
}

export function toOwnBlock<P extends About<typeof aboutNode>>(block: StateBlock, payload: P): Declared<P> {
  return { payload, audience: { to: 'own-block', block } }
}

export function toNode<P extends About<typeof aboutNode>>(
  type: 'action_request' | 'session_setup',
  payload: P,
): Declared<P> {
  return { payload, audience: { to: 'node', type } }
}

/** For a new version of a secret. */
export function toSecretHosts<P extends About<typeof aboutSecret>>(payload: P): Declared<P> {
  return { payload, audience: { to: 'secret-hosts' } }
}

function toMatched<P extends About<typeof aboutPolicyRevision>>(payload: P): Declared<P> {
  return { payload, audience: { to: 'matched' } }
}

/** For changes of the members of a policy group. */
export function toGroup(): Declared<typeof aboutGroup> {
  return { payload: aboutGroup, audience: { to: 'group' } }
}

/** S1 Events: the resource, the aggregate and its slug; the slug of the relay is empty. */
const bridgeChange = aboutBridge.extend({ aggregate_id: z.string().optional(), slug: z.string().optional() })

/** For changes of what the hosts of a bridge are to run. */
export function toHosts(): Declared<typeof bridgeChange> {
  return { payload: bridgeChange, audience: { to: 'hosts' } }
}

const text = z.string()

/** What decided which nodes saw a node that is gone. Its peers do not receive it. */
export const formerPlace = z.object({
  mesh_address: z.string(),
  groups: z.array(z.int()),
  policy_ids: z.array(z.uuid()),
})

/** A label Definition. */
const definition = z.object({ definition_id: text, qualified_key: text })

/** A label of an object; no Definition once that was deleted. */
const label = z.object({ kind: text, object_id: text, qualified_key: text, definition_id: text.nullable() })

/**
 * Whose effective labels changed: `node:<id>`, or the nodes in `project:<id>`, `domain:<id>` or `platform:main`. No
 * Definition where several may be concerned.
 */
export const changedNodeLabels = z.object({ definition_id: text.nullable(), scope: text })

export type FormerPlace = z.infer<typeof formerPlace>

/** A role of a subject on an object. */
export const grant = z.object({ tuple_id: text, subject: text, relation: text })

/**
 * Events that several folders emit or read, and those of surfaces that do not exist yet. A slice declares its own in its
 * `events.ts`, and adds them to `OutboxEvents` there.
 */
export const SHARED_EVENTS = {
  GrantCreated: toNobody(grant),

  // labels
  LabelDefinitionCreated: toNobody(definition),
  LabelDefinitionUpdated: toNobody(definition),
  LabelDefinitionDeleted: toNobody(definition),
  LabelAssigned: toNobody(label),
  LabelRemoved: toNobody(label),
  /** One row a change, however many nodes it concerns. */
  node_labels_changed: toNobody(changedNodeLabels),

  // the life of a node's lane
  peer_registered: toPeers('registered', aboutPeer.extend({ name: text, mesh_address: text, public_key: text })),
  peer_deregistered: toPeers('deregistered', aboutPeer.extend({ name: text, former: formerPlace.optional() })),
  peer_psk_assigned: toPeers('psk_assigned', aboutPeer.extend({ psk_issued_at: text })),

  // executions
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

  // policies and bridges
  /** Only where the selector or the compiled rules changed. The nodes that left are those that only the revision before matched. */
  policy_revision_created: toMatched(
    aboutPolicyRevision.extend({ former_revision_id: z.uuid().optional(), left_node_ids: z.array(z.uuid()) }),
  ),
  /** The nodes are those that the policy matched when it was deleted: its rows are gone. */
  policy_deleted: toMatched(aboutPolicyRevision.extend({ node_ids: z.array(z.uuid()) })),
  /** With peer visibility `reachable`: something changed that decides who sees whom. */
  peer_visibility_changed: { payload: aboutVisibility, audience: { to: 'viewers' } },
  /** Another relay carries the edges to the node, or the same one is reached elsewhere. */
  peer_relay_changed: toPeers('endpoint_changed', aboutPeer.extend({ endpoint: text })),
  /** Relays of so many nodes changed that a hint does not list them. */
  domain_relays_changed: { payload: z.object({}), audience: { to: 'domain' } },
  'bridge.RelayConfigured': toHosts(),
} as const satisfies OutboxDeclarations

type SharedEvents = typeof SHARED_EVENTS

/**
 * Every event that a change may append to the outbox: its literal, its payload and its audience. A literal that is not
 * here, and a payload of another shape, do not compile in `Change.emit`; one that no slice exports does not compile in
 * `composition/slices.ts`.
 */
export interface OutboxEvents extends SharedEvents {}

export type OutboxLiteral = keyof OutboxEvents

export type OutboxPayload<Literal extends OutboxLiteral> = Readonly<z.input<OutboxEvents[Literal]['payload']>>

interface OutboxEventOf<Literal extends OutboxLiteral> {
  readonly event: Literal
  readonly domainId: string | null
  /** What changed, `<type>:<id>`. */
  readonly aggregate: string
  readonly payload: OutboxPayload<Literal>
  /** Of the request that the event belongs to, where several requests share the change. Default: that of the change. */
  readonly correlationId?: string
}

/** An outbox event of one of the literals, each with its own payload. */
export type OutboxEvent<Literal extends OutboxLiteral = OutboxLiteral> = {
  [Each in Literal]: OutboxEventOf<Each>
}[Literal]
