import { z } from 'zod'
import { namesZeroUuid } from '../ids.ts'
import { Instant, Uuid } from './fields.ts'

/** The longest life of an API token, in seconds: 366 days. */
export const TOKEN_LIFETIME_SECONDS_MAX = 366 * 86_400

const Scope = z
  .string()
  .regex(/^(\*|[a-z][a-z0-9-]*:(read|write))$/)
  .max(64)

const issueMembers = {
  name: z.string().min(1).max(128).describe('Purpose of the token'),
  scopes: z
    .array(Scope)
    .min(1)
    .max(64)
    .optional()
    .meta({ problem: 'invalid_scope' })
    .describe('* or <surface>:read|write; * by default'),
  expires_in_seconds: z
    .int()
    .min(60)
    .max(TOKEN_LIFETIME_SECONDS_MAX)
    .optional()
    .describe('Lifetime; 90 days by default, 366 at most'),
}

export const APITokenIssueRequest = z.strictObject(issueMembers).meta({ id: 'APITokenIssueRequest' })

export const IdentityRef = z
  .string()
  .regex(/^(user|service):[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/)
  .refine((text) => !namesZeroUuid(text), { error: 'must not name the zero UUID' })
  .meta({ problem: 'invalid_identity_ref' })
  .describe('user:<uuid> or service:<uuid>')

export const AdminTokenIssueRequest = z
  .strictObject({ identity_ref: IdentityRef, ...issueMembers })
  .meta({ id: 'AdminAPITokenIssueRequest' })

export const APITokenRotateRequest = z
  .strictObject({
    grace_seconds: z
      .int()
      .min(0)
      .max(604_800)
      .optional()
      .describe('How long the old token continues to work; 3600 by default'),
  })
  .meta({ id: 'APITokenRotateRequest' })

const summary = {
  id: Uuid,
  name: z.string(),
  prefix: z.string().describe('Beginning of the token, up to its id'),
  scopes: z.array(z.string()),
  created_at: Instant,
  expires_at: Instant,
  last_used_at: Instant.nullable(),
  revoked_at: Instant.nullable(),
  rotated_to: Uuid.nullable(),
}

export const APITokenSummary = z.object(summary).meta({ id: 'APITokenSummary' })

const Plaintext = z.string().meta({ description: 'The token itself; shown only once', 'x-service-write-once': true })

export const APITokenIssueResponse = z.object({ ...summary, token: Plaintext }).meta({ id: 'APITokenIssueResponse' })
export const APITokenRotateResponse = z.object({ ...summary, token: Plaintext }).meta({ id: 'APITokenRotateResponse' })

export const Whoami = z
  .object({
    subject: z.string(),
    kind: z.enum(['user', 'service-identity']),
    domain_id: Uuid,
    domain_slug: z.string(),
    domain_display_name: z.string(),
    display_name: z.string(),
    credential: z.object({
      type: z.string(),
      id: z.string(),
      scopes: z.array(z.string()),
      expires_at: Instant.nullable(),
    }),
    auth_time: Instant.nullable(),
    acr: z.string().nullable(),
  })
  .meta({ id: 'Whoami' })
