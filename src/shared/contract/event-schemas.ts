import { z } from 'zod'
import { ENVELOPE, SIGNATURE } from '../events/envelope-shape.ts'
import { PAYLOAD_SHAPES } from '../events/payload-shapes.ts'
import { WIRE_TYPES, type WireType } from '../events/wire-types.ts'
import type { JsonSchema } from './json-schema.ts'

/** A schema that only documents: agents check what they receive by the shapes themselves. */
export function schemaOf(schema: JsonSchema, name?: string) {
  return z.unknown().meta({ ...schema, ...(name !== undefined && { id: name }) })
}

/** `node_state_updated` is `NodeStateUpdatedPayload`. */
function payloadName(type: WireType): string {
  const words = type.split('_').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
  return `${words.join('')}Payload`
}

const { payload: _open, type: _anyType, ...common } = ENVELOPE.schema.properties ?? {}

/** The data of a frame of the event stream. A later server may send other types, so that neither type nor payload is closed. */
export const EventEnvelope = z
  .object({
    ...Object.fromEntries(Object.entries(common).map(([name, schema]) => [name, schemaOf(schema)])),
    payload: z
      .union([...WIRE_TYPES.map((type) => schemaOf(PAYLOAD_SHAPES[type].schema, payloadName(type))), z.looseObject({})])
      .describe('What happened, in the shape of `type`; the object without known members is that of a later type'),
    type: z
      .union([z.enum(WIRE_TYPES), z.string()])
      .describe('Type of the event; one that a client does not know means that anything may have changed'),
    signature: z
      .string()
      .regex(new RegExp(`^${SIGNATURE}$`))
      .describe('Ed25519 signature, base64url, of the canonical JSON (RFC 8785) of the other members'),
  })
  .meta({ id: 'EventEnvelope', description: ENVELOPE.schema.description })
