import { canonicalize } from '../canonical-json.ts'
import { constant, described, integer, object, openWord, optional, text, textThat, type Shape } from '../shapes.ts'
import { DOMAIN_EVENT_TYPES, REACHABILITIES, type DomainEventPayload, type DomainEventType } from './domain-types.ts'
import { ENVELOPE_MAJOR, filled, isInstant } from './envelope-shape.ts'

/**
 * An event of a Domain without its signature. It names no node, so that it can never be taken for the event of one, which the
 * same keys sign.
 */
export interface DomainEnvelope {
  readonly api_version: typeof ENVELOPE_MAJOR
  readonly domain_id: string
  /** The key that signed. */
  readonly kid: string
  /** RFC 3339, UTC, milliseconds. */
  readonly occurred_at: string
  readonly payload: DomainEventPayload
  /** Position of the event, and what the frame has as `id`: rises, with gaps. At most 2^53 - 1. */
  readonly seq: number
  /** A later server may have more. */
  readonly type: DomainEventType
}

const DOMAIN_EVENT_PAYLOAD: Shape<DomainEventPayload> = object<DomainEventPayload>(
  {
    object: text({
      description: 'The object that changed, `<type>:<id>`; `domain:<id>` where anything in it may have changed',
    }),
    from: optional(described(openWord(REACHABILITIES), 'Of `node.reachability_changed`: what the node was')),
    to: optional(described(openWord(REACHABILITIES), 'Of `node.reachability_changed`: what the node is')),
    session_id: optional(text({ description: 'Of `session.…`: the session; the object is its node' })),
    execution_id: optional(text({ description: 'Of `execution.…`: the execution; the object is its node' })),
  },
  'What changed: ids and states, never names or values. Read the object for the rest.',
)

/** An event of a Domain as a reader verifies it, without the signature. */
export const DOMAIN_ENVELOPE: Shape<DomainEnvelope> = object<DomainEnvelope>(
  {
    api_version: constant(ENVELOPE_MAJOR, 'Major version of the envelope'),
    domain_id: filled({ format: 'uuid', description: 'The Domain' }),
    kid: filled({ description: 'The signing key, as `GET /v1/signing-keys` lists it' }),
    occurred_at: textThat(isInstant, {
      format: 'date-time',
      pattern: String.raw`^\d{4}-\d\d-\d\dT`,
      description: 'When it happened',
    }),
    payload: DOMAIN_EVENT_PAYLOAD,
    seq: integer({ minimum: 0, description: 'Position of the event, as in the `id` of its frame: rises, with gaps' }),
    type: described(
      openWord(DOMAIN_EVENT_TYPES),
      'Type of the event; `stream.resync` and one that a client does not know mean that anything may have changed',
    ),
  },
  'A signed event of a Domain, as the `data` of a frame carries it. Members are in canonical order.',
)

/** The bytes that are signed, as text (RFC 8785). */
export function canonicalDomainEnvelope(envelope: DomainEnvelope): string {
  return canonicalize(envelope)
}
