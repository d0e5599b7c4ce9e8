import { anyObject, constant, described, integer, object, textThat, type Members, type Shape } from '../shapes.ts'

/** The major version of the API that envelopes belong to (S1 Versioning 1). */
export const ENVELOPE_MAJOR = 'v1'

/** The text of 64 bytes in base64url. The last character carries two bits; the other four are 0, so each signature has one text. */
export const SIGNATURE = String.raw`[\w-]{85}[AQgw]`

/** Any text but the empty one. */
export const filled = (keywords: { readonly format?: string; readonly description?: string } = {}): Shape<string> =>
  textThat((value) => value !== '', { minLength: 1, ...keywords })

/** Whether a text begins as an instant of RFC 3339 does, and is one. */
export const isInstant = (value: string): boolean => /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value))

/** The members of an event that every server of this major version sends. */
export interface EnvelopeMembers {
  readonly api_version: typeof ENVELOPE_MAJOR
  readonly domain_id: string
  readonly event_id: string
  readonly kid: string
  readonly node_id: string
  /** From 0, at most 2^53 - 1. */
  readonly node_seq: number
  /** RFC 3339. */
  readonly occurred_at: string
  readonly payload: Members
  readonly type: string
}

/** An event as its node verifies it, without the signature. */
export const ENVELOPE: Shape<EnvelopeMembers> = object<EnvelopeMembers>(
  {
    api_version: constant(ENVELOPE_MAJOR, 'Major version of the envelope'),
    domain_id: filled({ format: 'uuid', description: 'Domain of the node' }),
    event_id: filled({ format: 'uuid', description: 'The event; the same wherever it is sent again' }),
    kid: filled({ description: 'The signing key, as `GET /v1/signing-keys` lists it' }),
    node_id: filled({ format: 'uuid', description: 'The node that the event is for' }),
    node_seq: integer({
      minimum: 0,
      description: 'Number of the event among those of the node, rising by one: a missing number is a missed event',
    }),
    occurred_at: textThat(isInstant, {
      format: 'date-time',
      pattern: String.raw`^\d{4}-\d\d-\d\dT`,
      description: 'When it happened',
    }),
    payload: described(anyObject, 'What happened, in the shape of `type`'),
    type: filled({
      description: 'Type of the event; one that a client does not know means that anything may have changed',
    }),
  },
  'A signed event, as the `data` of a frame carries it. Members are in canonical order.',
)
