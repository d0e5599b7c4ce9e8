import { runtime } from './noun-words.ts'
import { z } from 'zod'
import {
  CloudAssignment,
  CloudAssignmentRequest,
  CloudAssignmentRevokeRequest,
  ProviderConfig,
} from './assignment-schemas.ts'
import { KiB, pageOf, pageQuery, uuidField } from './fields.ts'
import { check, defineSurface, OPERATOR } from './operation.ts'

const ofProject = z.strictObject({ id: uuidField('invalid_project_id', 'Project') })
const columns = ['id', 'cloud_id', 'state', 'materialised', 'created_at']
const wide = ['approval_id', 'revoked_by', 'revoked_reason', 'updated_at']

export const cloudAssignments = defineSurface(
  'cloud-assignments',
  {
    summary: 'Clouds that are lent to Projects, and how a Project is configured for them',
    nouns: {
      'cloud-assignments': {
        section: 'Catalogue',
        position: 4,
        files: runtime('Requests that the owners of a Cloud decide'),
      },
      'provider-configs': {
        section: 'Catalogue',
        position: 6,
        files: runtime('Derived from a Cloud and what is lent of it'),
      },
    },
  },
  {
    RequestCloudAssignment: {
      method: 'POST',
      path: '/v1/projects/{id}/cloud-assignments',
      summary: 'Request a Cloud for a Project',
      description: 'The Project can use it once somebody else has approved the request.',
      credentials: OPERATOR,
      params: ofProject,
      body: CloudAssignmentRequest,
      bodyBytesMax: 8 * KiB,
      gate: check('deploy', 'project:{path.id}'),
      audit: { relation: 'cloud_assignment.request', when: 'all' },
      responses: { 201: CloudAssignment },
      problems: ['project_not_found', 'cloud_not_found', 'duplicate_live_assignment'],
      notProvisioned: 'cloud_assignments_not_provisioned',
      cli: {
        command: 'cloud-assignments request',
        refs: { id: 'projects', cloud_id: 'clouds' },
        columns,
        done: 'Requested Cloud {cloud_id}. Somebody else decides: ctl approvals approve {approval_id}',
      },
    },
    ListCloudAssignments: {
      method: 'GET',
      path: '/v1/projects/{id}/cloud-assignments',
      summary: 'List the Clouds that a Project has requested and been lent',
      description: 'Requests that were rejected and Clouds that were taken back are among them.',
      credentials: OPERATOR,
      params: ofProject,
      query: z.strictObject(pageQuery),
      gate: check('read', 'project:{path.id}'),
      audit: { relation: 'cloud_assignment.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: {
        200: pageOf(CloudAssignment).meta({
          id: 'CloudAssignmentList',
          description: 'A page of Clouds that were requested or lent.',
        }),
      },
      problems: ['project_not_found'],
      notProvisioned: 'cloud_assignments_not_provisioned',
      cli: { command: 'cloud-assignments list', refs: { id: 'projects' }, columns, wide },
    },
    RevokeCloudAssignment: {
      method: 'POST',
      path: '/v1/cloud-assignments/{id}/revoke',
      summary: 'Take a lent Cloud back, as the Cloud or as the Project',
      description:
        'The Project can no longer provision on the Cloud. With `cascade`, the lent credentials of the Cloud go with it.',
      credentials: OPERATOR,
      params: z.strictObject({ id: uuidField('invalid_cloud_assignment_id', 'Cloud assignment') }),
      body: CloudAssignmentRevokeRequest,
      bodyBytesMax: 8 * KiB,
      gate: {
        anyOf: [
          { relation: 'assign', object: 'cloud:{row.cloud_id}', grantedBy: 'cloud' },
          { relation: 'deploy', object: 'project:{row.project_id}', grantedBy: 'project' },
        ],
        missingRow: 'cloud_assignment_not_found',
        fold: 'cloud_assignment_not_found',
        foldUnless: [{ relation: 'read', object: 'project:{row.project_id}' }],
      },
      audit: { relation: 'cloud_assignment.revoke', when: 'all' },
      responses: { 200: CloudAssignment },
      problems: ['illegal_transition', 'cloud_assignment_in_use'],
      sentences: { illegal_transition: 'Only an approved assignment can be revoked.' },
      notProvisioned: 'cloud_assignments_not_provisioned',
      cli: {
        command: 'cloud-assignments revoke',
        args: ['id'],
        refs: { id: 'cloud-assignments' },
        columns,
        confirm: 'yes',
        done: 'Revoked Cloud assignment {id}.',
      },
    },
    GetProviderConfig: {
      method: 'GET',
      path: '/v1/projects/{id}/provider-configs/{cloud_id}',
      summary: 'Show how a Project is configured for a Cloud',
      description:
        'The effective configuration as it is rendered: of a Cloud with a bundle, the packages of the pinned version with the overrides merged over them. The secret is named by its credential and version.',
      credentials: OPERATOR,
      params: ofProject.extend({ cloud_id: uuidField('invalid_cloud_id', 'Cloud') }),
      gate: check('deploy', 'project:{path.id}'),
      audit: { relation: 'provider_config.read', when: 'all' },
      responses: { 200: ProviderConfig },
      problems: ['provider_config_not_found'],
      notProvisioned: 'cloud_assignments_not_provisioned',
      cli: { command: 'provider-configs show', args: ['cloud_id'], refs: { id: 'projects', cloud_id: 'clouds' } },
    },
  },
)
