import type { cloudAssignments } from '../../../shared/contract/cloud-assignments.ts'
import type { credentialAssignments } from '../../../shared/contract/credential-assignments.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { Tuple, TuplePlace } from '../../ports/unit-of-work.ts'
import type { CloudAssignment } from './cloud-store.ts'
import type { CredentialAssignment } from './credential-store.ts'

type CredentialAnswer = Result<(typeof credentialAssignments)['operations']['RequestCredentialAssignment']>
type CloudAnswer = Result<(typeof cloudAssignments)['operations']['RequestCloudAssignment']>

/** Clouds and their credentials belong to the platform, and so do the tuples on them. */
export const OF_PLATFORM: TuplePlace = { domainId: null, projectId: null }

/** The tuple of an approved assignment of a credential. */
export const usesTuple = (of: Pick<CredentialAssignment, 'project_id' | 'cloud_credential_id'>): Tuple => ({
  subject: `project:${of.project_id}`,
  relation: 'uses',
  resource: `cloudcredential:${of.cloud_credential_id}`,
})

/** The tuple of an approved assignment of a Cloud. */
export const consumerTuple = (of: Pick<CloudAssignment, 'project_id' | 'cloud_id'>): Tuple => ({
  subject: `project:${of.project_id}`,
  relation: 'consumer',
  resource: `cloud:${of.cloud_id}`,
})

/** The row of a credential's assignment as the API shows it. */
export const credentialAnswer = (row: CredentialAssignment & Materialised): CredentialAnswer => ({
  id: row.id,
  project_id: row.project_id,
  cloud_credential_id: row.cloud_credential_id,
  ...shown(row),
})

/** The row of a Cloud's assignment as the API shows it. */
export const cloudAnswer = (row: CloudAssignment & Materialised): CloudAnswer => ({
  id: row.id,
  project_id: row.project_id,
  cloud_id: row.cloud_id,
  ...shown(row),
})

interface Materialised {
  /** Absent for one that was requested or revoked just now. */
  readonly materialised?: boolean
}

function shown(row: (CredentialAssignment | CloudAssignment) & Materialised) {
  return {
    state: row.state,
    materialised: row.materialised ?? false,
    approval_id: row.approval_id,
    ...(row.revoked_by !== null && { revoked_by: row.revoked_by }),
    ...(row.revoked_reason !== null && { revoked_reason: row.revoked_reason }),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
