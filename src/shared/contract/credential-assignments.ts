import { runtime } from './noun-words.ts'
import { z } from 'zod'
import {
  CredentialAssignment,
  CredentialAssignmentDecisionRequest,
  CredentialAssignmentRequest,
} from './assignment-schemas.ts'
import { clampedPageQuery, KiB, pageOf, uuidField } from './fields.ts'
import { check, defineSurface, OPERATOR } from './operation.ts'

const ofProject = z.strictObject({ id: uuidField('invalid_project_id', 'Project') })
const columns = ['id', 'cloud_credential_id', 'state', 'materialised', 'created_at']
const wide = ['approval_id', 'revoked_by', 'revoked_reason', 'updated_at']

export const credentialAssignments = defineSurface(
  'credential-assignments',
  {
    summary: 'Credentials of Clouds that are lent to Projects',
    nouns: {
      credentials: {
        section: 'Catalogue',
        position: 5,
        files: runtime('Requests that the owners of a credential decide'),
      },
    },
  },
  {
    RequestCredentialAssignment: {
      method: 'POST',
      path: '/v1/projects/{id}/credential-assignments',
      summary: 'Request a credential of a Cloud for a Project',
      description:
        'Name a credential, or a Cloud whose newest active credential is taken. The Project can use it once somebody else has approved the request.',
      credentials: OPERATOR,
      params: ofProject,
      body: CredentialAssignmentRequest,
      bodyBytesMax: 8 * KiB,
      gate: check('deploy', 'project:{path.id}'),
      audit: { relation: 'credential_assignment.request', when: 'all' },
      responses: { 201: CredentialAssignment },
      problems: [
        'project_not_found',
        'ambiguous_credential_target',
        'cloud_not_usable_in_project',
        'credential_not_assignable',
        'no_eligible_credential_for_cloud',
        'duplicate_live_assignment',
      ],
      notProvisioned: 'credential_assignments_not_provisioned',
      cli: {
        command: 'credentials request',
        refs: { id: 'projects', cloud_id: 'clouds', cloud_credential_id: 'cloud-credentials' },
        flags: { cloud_credential_id: { name: 'credential' } },
        columns,
        done: 'Requested credential {cloud_credential_id}. Somebody else decides: ctl approvals approve {approval_id}',
      },
    },
    ListCredentialAssignments: {
      method: 'GET',
      path: '/v1/projects/{id}/credential-assignments',
      summary: 'List the credentials that a Project has requested and been lent',
      description: 'Requests that were rejected and credentials that were taken back are among them.',
      credentials: OPERATOR,
      params: ofProject,
      query: z.strictObject(clampedPageQuery),
      gate: check('read', 'project:{path.id}'),
      audit: { relation: 'credential_assignment.list', when: 'all' },
      paging: { limit: 'clamped', cursor: 'caller' },
      responses: {
        200: pageOf(CredentialAssignment).meta({
          id: 'CredentialAssignmentList',
          description: 'A page of credentials that were requested or lent.',
        }),
      },
      problems: ['project_not_found'],
      notProvisioned: 'credential_assignments_not_provisioned',
      cli: { command: 'credentials list', refs: { id: 'projects' }, columns, wide },
    },
    RevokeCredentialAssignment: {
      method: 'POST',
      path: '/v1/credential-assignments/{id}/revoke',
      summary: 'Take a lent credential back, as its Cloud or as the Project',
      description: 'The Project can no longer use the credential. The credential itself stays as it is.',
      credentials: OPERATOR,
      params: z.strictObject({ id: uuidField('invalid_credential_assignment_id', 'Credential assignment') }),
      body: CredentialAssignmentDecisionRequest,
      bodyBytesMax: 8 * KiB,
      gate: {
        anyOf: [
          { relation: 'assign', object: 'cloudcredential:{row.cloud_credential_id}', grantedBy: 'credential' },
          { relation: 'deploy', object: 'project:{row.project_id}', grantedBy: 'project' },
        ],
        denial: { relation: 'deploy', object: 'cloudcredential:{row.cloud_credential_id}' },
        missingRow: 'credential_assignment_not_found',
      },
      audit: { relation: 'credential_assignment.revoke', when: 'all' },
      responses: { 200: CredentialAssignment },
      problems: ['illegal_transition'],
      sentences: { illegal_transition: 'Only an approved assignment can be revoked.' },
      notProvisioned: 'credential_assignments_not_provisioned',
      cli: {
        command: 'credentials revoke',
        args: ['id'],
        refs: { id: 'credentials' },
        columns,
        confirm: 'yes',
        done: 'Revoked credential assignment {id}.',
      },
    },
  },
)
