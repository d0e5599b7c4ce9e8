import { z } from 'zod'
import { DOMAIN_ENVELOPE } from '../events/domain-envelope.ts'
import { SIGNATURE } from '../events/envelope-shape.ts'
import { schemaOf } from './event-schemas.ts'

/** The data of a frame of a Domain's event stream. A later server may send other types and members. */
export const DomainEventEnvelope = z
  .object({
    ...Object.fromEntries(
      Object.entries(DOMAIN_ENVELOPE.schema.properties ?? {}).map(([name, schema]) => [
        name,
        schemaOf(schema, name === 'payload' ? 'DomainEventPayload' : undefined),
      ]),
    ),
    signature: z
      .string()
      .regex(new RegExp(`^${SIGNATURE}$`))
      .describe('Ed25519 signature, base64url, of the canonical JSON (RFC 8785) of the other members'),
  })
  .meta({ id: 'DomainEventEnvelope', description: DOMAIN_ENVELOPE.schema.description })
