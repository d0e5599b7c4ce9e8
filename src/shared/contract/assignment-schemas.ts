import { z } from 'zod'
import { CreatedAt, InProject, OwnId, ShownSlug, UpdatedAt, Uuid, uuidField } from './fields.ts'

/** The states of an assignment; `rejected` also ends a request that was withdrawn or has expired. */
const AssignmentState = z.enum(['requested', 'approved', 'rejected', 'revoked'])

const members = {
  state: AssignmentState.describe(
    '`requested` waits for an approval, `approved` is in force; `rejected` and `revoked` are final',
  ),
  materialised: z.boolean().describe('Whether the Project can use it: approved, and every check grants it by now'),
  approval_id: Uuid.describe('The approval that decides on the request'),
  revoked_by: z.string().optional().describe('The subject that revoked it'),
  revoked_reason: z.string().optional().describe('Why it was revoked'),
  created_at: CreatedAt,
  updated_at: UpdatedAt,
}

/** The lending of a Cloud's credential to a Project. */
export const CredentialAssignment = z
  .object({ id: OwnId, project_id: InProject, cloud_credential_id: Uuid.describe('The credential'), ...members })
  .meta({
    id: 'CredentialAssignmentResponse',
    description: 'The lending of a credential of a Cloud to a Project, from the request on.',
  })

/** The lending of a Cloud to a Project. */
export const CloudAssignment = z
  .object({ id: OwnId, project_id: InProject, cloud_id: Uuid.describe('The Cloud'), ...members })
  .meta({ id: 'CloudAssignmentResponse', description: 'The lending of a Cloud to a Project, from the request on.' })

export const CredentialAssignmentRequest = z
  .strictObject({
    cloud_credential_id: uuidField('invalid_cloud_credential_id', 'The credential').optional(),
    cloud_id: uuidField('invalid_cloud_id', 'A Cloud, whose newest credential that can be lent is taken').optional(),
  })
  .meta({ id: 'CredentialAssignmentRequest', description: 'Exactly one of the two members' })

export const CloudAssignmentRequest = z
  .strictObject({ cloud_id: uuidField('invalid_cloud_id', 'The Cloud') })
  .meta({ id: 'CloudAssignmentRequest', description: 'A request for a Cloud.' })

/** 1 to 1024 characters (S1 Limits). */
const reason = z
  .string()
  .max(1024)
  .refine((text) => text.trim().length > 0, { error: 'must not be blank' })
  .meta({ problem: 'invalid_decision_reason', description: 'Why; the members of the Project read it' })

export const CredentialAssignmentDecisionRequest = z
  .strictObject({ reason })
  .meta({ id: 'CredentialAssignmentDecisionRequest', description: 'Why a lent credential is taken back.' })

export const CloudAssignmentRevokeRequest = z
  .strictObject({
    reason,
    cascade: z
      .boolean()
      .optional()
      .describe("Revoke what is lent of the Cloud's credentials too, and withdraw what is requested"),
  })
  .meta({ id: 'CloudAssignmentRevokeRequest', description: 'Why a lent Cloud is taken back, and what goes with it.' })

const ConfiguredPackage = z
  .object({
    source: z.string().describe('OCI repository of the package'),
    version: z.string().describe('Tag or sha256 digest of the package'),
  })
  .meta({ id: 'ProviderConfigPackage', description: 'A package of a provider configuration.' })

/** What a Project renders to provision on a Cloud. The secret itself is in no answer. */
export const ProviderConfig = z
  .object({
    cloud_id: Uuid.describe('The Cloud'),
    slug: ShownSlug,
    provider: z.string().describe('Cloud platform'),
    provider_config_api_version: z.string().describe('API version of the rendered provider configuration'),
    provider_packages: z.array(ConfiguredPackage).describe('Effective packages, by source'),
    endpoint: z.record(z.string(), z.unknown()).describe('How the cloud platform is reached'),
    region_defaults: z.record(z.string(), z.unknown()).describe('Region settings of the Cloud'),
    credential: z
      .object({
        cloud_credential_id: Uuid.describe('The credential'),
        secret_version: z.int().describe('The version of its secret that is in use'),
      })
      .nullable()
      .describe('The newest credential that is lent to the Project and active; null where there is none'),
  })
  .meta({ id: 'ProviderConfigResponse', description: 'What a Project renders to provision on a Cloud.' })
