import { z } from 'zod'
import { CreatedAt, DecisionReason, DisplayName, Instant, OwnId, ShownName, UpdatedAt, Uuid } from './fields.ts'

const code = 'invalid_cloud_credential'

export const CloudCredential = z
  .object({
    id: OwnId,
    cloud_id: Uuid.describe('The Cloud'),
    display_name: ShownName,
    state: z
      .enum(['active', 'suspended', 'expired', 'revoked'])
      .describe('Only an active one can be lent; `expired` follows from `expires_at`, and `revoked` is final'),
    expires_at: Instant.nullable().describe('Null: it does not expire'),
    secret_version: z.int().describe('Rises with each rotation'),
    rotated_at: Instant.nullable().describe('When its secret was replaced; null where it is the first one'),
    revoked_by: z.string().nullable().describe('Subject that revoked it; null unless it was revoked'),
    revoked_reason: z.string().nullable().describe('Why it was revoked; null unless it was revoked'),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'CloudCredential', description: 'A credential of a Cloud, without its secret.' })

const Secret = z.record(z.string(), z.unknown()).meta({
  problem: code,
  writeOnly: true,
  description:
    'The secret, as the provider of the Cloud asks for it, and never shown again: aws access_key_id and secret_access_key, or role_arn and perhaps external_id; azure client_id and client_secret; gcp service_account_key; hetzner token; openstack application_credential_id and application_credential_secret',
})

const ExpiresAt = z.iso.datetime({ offset: true }).meta({
  problem: code,
  description: 'RFC 3339, in the future',
})

const members = { display_name: DisplayName.meta({ problem: code }), expires_at: ExpiresAt }

export const CloudCredentialCreateRequest = z
  .strictObject({ ...members, secret: Secret, expires_at: ExpiresAt.optional() })
  .meta({ id: 'CloudCredentialCreateRequest', description: 'A new credential with its secret.', problem: code })

export const CloudCredentialPatchRequest = z
  .strictObject({
    display_name: members.display_name,
    expires_at: ExpiresAt.nullable().describe('RFC 3339, in the future; null where it does not expire').meta({
      problem: code,
    }),
    state: z
      .enum(['active', 'suspended'])
      .meta({ problem: code })
      .describe('`suspended` keeps it from being lent; `active` ends that'),
  })
  .partial()
  .meta({ id: 'CloudCredentialPatchRequest', description: 'Members of a credential to change.', problem: code })

export const CloudCredentialRotateRequest = z
  .strictObject({ secret: Secret })
  .meta({ id: 'CloudCredentialRotateRequest', description: 'The secret that replaces the current one.', problem: code })

export const CloudCredentialRevokeRequest = z
  .strictObject({ reason: DecisionReason.describe('Why; everybody who sees the credential reads it') })
  .meta({ id: 'CloudCredentialRevokeRequest', description: 'Why a credential is revoked.' })
