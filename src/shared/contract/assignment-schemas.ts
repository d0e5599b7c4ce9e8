import { z } from 'zod'
import { Instant, Uuid, uuidField } from './fields.ts'

/** The states of an assignment; `rejected` also ends a request that was withdrawn or has expired. */
const AssignmentState = z.enum(['requested', 'approved', 'rejected', 'revoked'])

const members = {
  state: AssignmentState,
  materialised: z.boolean().describe('Whether the Project can use it: approved, and every check grants it by now'),
  approval_id: Uuid.describe('The approval that decides on the request'),
  revoked_by: z.string().optional().describe('The subject that revoked it'),
  revoked_reason: z.string().optional().describe('Why it was revoked'),
  created_at: Instant,
  updated_at: Instant,
}

/** The lending of a Cloud's credential to a Project. */
export const CredentialAssignment = z
  .object({ id: Uuid, project_id: Uuid, cloud_credential_id: Uuid, ...members })
  .meta({ id: 'CredentialAssignmentResponse' })

/** The lending of a Cloud to a Project. */
export const CloudAssignment = z
  .object({ id: Uuid, project_id: Uuid, cloud_id: Uuid, ...members })
  .meta({ id: 'CloudAssignmentResponse' })

export const CredentialAssignmentRequest = z
  .strictObject({
    cloud_credential_id: uuidField('invalid_cloud_credential_id', 'The credential').optional(),
    cloud_id: uuidField('invalid_cloud_id', 'A Cloud, whose newest credential that can be lent is taken').optional(),
  })
  .meta({ id: 'CredentialAssignmentRequest', description: 'Exactly one of the two members' })

export const CloudAssignmentRequest = z
  .strictObject({ cloud_id: uuidField('invalid_cloud_id', 'The Cloud') })
  .meta({ id: 'CloudAssignmentRequest' })

/** 1 to 1024 characters (S1 Limits). */
const reason = z
  .string()
  .max(1024)
  .refine((text) => text.trim().length > 0, { error: 'must not be blank' })
  .meta({ problem: 'invalid_decision_reason', description: 'Why; the members of the Project read it' })

export const CredentialAssignmentDecisionRequest = z
  .strictObject({ reason })
  .meta({ id: 'CredentialAssignmentDecisionRequest' })

export const CloudAssignmentRevokeRequest = z
  .strictObject({
    reason,
    cascade: z
      .boolean()
      .optional()
      .describe("Revoke what is lent of the Cloud's credentials too, and withdraw what is requested"),
  })
  .meta({ id: 'CloudAssignmentRevokeRequest' })

const ConfiguredPackage = z.object({ source: z.string(), version: z.string() }).meta({ id: 'ProviderConfigPackage' })

/** What a Project renders to provision on a Cloud. The secret itself is in no answer. */
export const ProviderConfig = z
  .object({
    cloud_id: Uuid,
    slug: z.string(),
    provider: z.string(),
    provider_config_api_version: z.string(),
    provider_packages: z.array(ConfiguredPackage).describe('Effective packages, by source'),
    endpoint: z.record(z.string(), z.unknown()),
    region_defaults: z.record(z.string(), z.unknown()),
    credential: z
      .object({
        cloud_credential_id: Uuid,
        secret_version: z.int().describe('The version of its secret that is in use'),
      })
      .nullable()
      .describe('The newest credential that is lent to the Project and active; null where there is none'),
  })
  .meta({ id: 'ProviderConfigResponse' })
