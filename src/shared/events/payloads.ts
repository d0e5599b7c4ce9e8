import { isNonZeroUuid } from '../ids.ts'
import { isPskIssuedAt } from '../mesh/psk-instant.ts'
import { isGroup } from '../policies/rule-types.ts'
import { isMembers, type Members, type ReceivedEnvelope } from './signed-envelope.ts'
import type { Payloads, WireType } from './wire-types.ts'

/** An envelope of a known type with a payload of the shape that this version knows. */
export type KnownEvent<Type extends WireType> = Type extends WireType
  ? ReceivedEnvelope & { readonly type: Type; readonly payload: Payloads[Type] }
  : never

/**
 * Whether an envelope is of a type and its payload has the shape of that type; further members are allowed. One that is
 * neither counts as a hint that anything may have changed: pull the state.
 */
export function isEvent<Type extends WireType>(envelope: ReceivedEnvelope, type: Type): envelope is KnownEvent<Type> {
  return envelope.type === type && SHAPES[type](envelope.payload)
}

type Check = (value: unknown) => boolean

const text: Check = (value) => typeof value === 'string'
const uuid: Check = (value) => typeof value === 'string' && isNonZeroUuid(value)
const pskInstant: Check = (value) => typeof value === 'string' && isPskIssuedAt(value)
const integer: Check = (value) => Number.isSafeInteger(value)
const group: Check = (value) => isGroup(value)
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)
const oneOf =
  (...words: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && words.includes(value)
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)

/** Own members only: a payload must not be read through the prototype. */
function shape(checks: Readonly<Record<string, Check>>): (value: unknown) => boolean {
  const entries = Object.entries(checks)
  const memberOf = (value: Members, name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined)
  return (value) => isMembers(value) && entries.every(([name, check]) => check(memberOf(value, name)))
}

/** Entries of lists such as blocks and changes may be unknown: a later server may have more. */
const peerChange = shape({
  node_id: uuid,
  changes: listOf(text),
  endpoint: optional(text),
  fallback_endpoint: optional(text),
  public_key: optional(text),
  mesh_address: optional(text),
  psk_issued_at: optional(pskInstant),
  groups: optional(listOf(group)),
})

const groupChange = shape({ group, added: listOf(uuid), removed: listOf(uuid) })

const SHAPES: Readonly<Record<WireType, Check>> = {
  node_state_updated: shape({
    reason: oneOf('changed', 'resync'),
    blocks: listOf(text),
    peers: listOf(peerChange),
    groups: optional(listOf(groupChange)),
  }),
  policy_updated: shape({
    node_id: text,
    policy_id: text,
    revision_id: text,
    fingerprint: text,
    rules: Array.isArray,
  }),
  bridge_config_updated: shape({ node_id: text, bridge_resource_id: text, effective_config: isMembers }),
  action_request: shape({
    execution_id: text,
    action: text,
    type: oneOf('builtin', 'hook'),
    parameters: optional(isMembers),
    status: oneOf('pending'),
    requested_at: text,
    expires_at: text,
  }),
  session_setup: shape({
    session_id: text,
    jti: text,
    kind: oneOf('ssh', 'cluster_api', 'tcp'),
    target: text,
    expires_at: text,
    idle_timeout_seconds: optional(integer),
  }),
}

/** Whether an event is marked as incomplete: more changed than it carries. */
export function isResync(envelope: ReceivedEnvelope): boolean {
  return envelope.type === 'node_state_updated' && envelope.payload['reason'] === 'resync'
}
