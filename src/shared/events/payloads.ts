import { PAYLOAD_SHAPES } from './payload-shapes.ts'
import type { ReceivedEnvelope } from './signed-envelope.ts'
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
  return envelope.type === type && PAYLOAD_SHAPES[type].fits(envelope.payload)
}

/** Whether an event is marked as incomplete: more changed than it carries. */
export function isResync(envelope: ReceivedEnvelope): boolean {
  return envelope.type === 'node_state_updated' && envelope.payload['reason'] === 'resync'
}
