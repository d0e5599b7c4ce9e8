import { z } from 'zod'
import { namesZeroUuid } from '../ids.ts'
import { CreatedAt, InDomain, Instant, OwnId, ShownName, Uuid } from './fields.ts'

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

export const APITokenIssueRequest = z
  .strictObject(issueMembers)
  .meta({ id: 'APITokenIssueRequest', description: 'A new API token of the caller.' })

export const IdentityRef = z
  .string()
  .regex(/^(user|service):[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/)
  .refine((text) => !namesZeroUuid(text), { error: 'must not name the zero UUID' })
  .meta({ problem: 'invalid_identity_ref' })
  .describe('user:<uuid> or service:<uuid>')

export const AdminTokenIssueRequest = z
  .strictObject({ identity_ref: IdentityRef, ...issueMembers })
  .meta({ id: 'AdminAPITokenIssueRequest', description: 'A new API token of another identity.' })

export const APITokenRotateRequest = z
  .strictObject({
    grace_seconds: z
      .int()
      .min(0)
      .max(604_800)
      .optional()
      .describe('How long the old token continues to work; 3600 by default'),
  })
  .meta({ id: 'APITokenRotateRequest', description: 'How an API token is replaced.' })

const summary = {
  id: OwnId,
  name: z.string().describe('Purpose of the token'),
  prefix: z.string().describe('Beginning of the token, up to its id'),
  scopes: z.array(z.string()).describe('What the token may do: `*`, or `<surface>:read` and `<surface>:write`'),
  created_at: CreatedAt,
  expires_at: Instant.describe('When the token expires'),
  last_used_at: Instant.nullable().describe('When the token was used last; null before its first use'),
  revoked_at: Instant.nullable().describe('When the token was revoked; null while it is valid'),
  rotated_to: Uuid.nullable().describe('Id of the token that replaces this one; null unless it was rotated'),
}

export const APITokenSummary = z
  .object(summary)
  .meta({ id: 'APITokenSummary', description: 'An API token without its plaintext.' })

const Plaintext = z.string().meta({ description: 'The token itself; shown only once', 'x-service-write-once': true })

export const APITokenIssueResponse = z
  .object({ ...summary, token: Plaintext })
  .meta({ id: 'APITokenIssueResponse', description: 'A new API token with its plaintext, which is shown only here.' })
export const APITokenRotateResponse = z.object({ ...summary, token: Plaintext }).meta({
  id: 'APITokenRotateResponse',
  description: 'The token that replaces the old one, with its plaintext, which is shown only here.',
})

export const Whoami = z
  .object({
    subject: z.string().describe('The caller, `user:<uuid>`, `serviceaccount:<uuid>` or `node:<uuid>`'),
    kind: z.enum(['user', 'service-identity']).describe('Whether the caller is a person or a workload'),
    domain_id: InDomain,
    domain_slug: z.string().describe('Slug of the Domain of the caller'),
    domain_display_name: z.string().describe('Name of the Domain of the caller'),
    display_name: ShownName,
    credential: z
      .object({
        type: z.string().describe('Kind of the credential'),
        id: z.string().describe('Id of the credential, such as that of the token or session'),
        scopes: z.array(z.string()).describe('What the credential may do; `*` for everything that the caller may'),
        expires_at: Instant.nullable().describe('When the credential expires; null where it does not'),
      })
      .describe('The credential that this call was made with'),
    auth_time: Instant.nullable().describe('When the person signed in; null for credentials without a sign-in'),
    acr: z
      .string()
      .nullable()
      .describe('Authentication context class of the sign-in, as the identity provider states it; null for none'),
  })
  .meta({ id: 'Whoami', description: 'The caller, as the server knows it.' })
