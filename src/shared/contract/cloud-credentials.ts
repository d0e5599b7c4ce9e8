import { runtime } from './noun-words.ts'
import { z } from 'zod'
import {
  CloudCredential,
  CloudCredentialCreateRequest,
  CloudCredentialPatchRequest,
  CloudCredentialRevokeRequest,
  CloudCredentialRotateRequest,
} from './cloud-credential-schemas.ts'
import { KiB, pageOf, pageQuery, uuidField } from './fields.ts'
import { check, defineSurface, OPERATOR } from './operation.ts'
import { nonEmptyPatch } from './patch.ts'

const ofCloud = z.strictObject({ id: uuidField('invalid_cloud_id', 'Cloud') })
const params = z.strictObject({ id: uuidField('invalid_cloud_credential_id', 'Cloud credential') })
const object = 'cloudcredential:{path.id}'
const columns = ['display_name', 'state', 'expires_at', 'secret_version', 'rotated_at', 'id']
const wide = ['cloud_id', 'created_at', 'updated_at', 'revoked_by', 'revoked_reason']
const refs = { id: 'cloud-credentials' }
const common = { credentials: OPERATOR, notProvisioned: 'not_provisioned' } as const

/** Who may not see the credential is answered as for one that does not exist (decisions: Objects addressed by id alone). */
const hidden = { fold: 'cloud_credential_not_found' } as const
const mayManage = { ...check('manage', object), ...hidden, foldUnless: [{ relation: 'read', object }] } as const
const sentences = { illegal_transition: 'The credential is revoked, or expired and not given a later end.' } as const

export const cloudCredentials = defineSurface(
  'cloud-credentials',
  {
    summary: 'Credentials of Clouds, whose secrets are kept in the secret store',
    nouns: {
      'cloud-credentials': {
        section: 'Catalogue',
        position: 3,
        types: ['cloudcredential'],
        files: runtime('Secrets of the platform'),
      },
    },
  },
  {
    CreateCloudCredential: {
      ...common,
      method: 'POST',
      path: '/v1/clouds/{id}/credentials',
      summary: 'Add a credential to a Cloud',
      description:
        'The secret is sealed and never shown again. It has to have the members that the cloud platform asks for.',
      params: ofCloud,
      body: CloudCredentialCreateRequest,
      bodyBytesMax: 16 * KiB,
      gate: check('manage', 'cloud:{path.id}'),
      audit: { relation: 'cloud_credential.create', when: 'all' },
      responses: { 201: CloudCredential },
      headers: { Location: 'Path of the new credential' },
      problems: ['cloud_not_found', 'invalid_cloud_credential', 'secret_write_in_progress', 'secret_store_unavailable'],
      cli: {
        command: 'cloud-credentials create',
        args: ['display_name'],
        refs: { id: 'clouds' },
        columns,
        wide,
        done: 'Added credential {display_name} ({id}).',
        examples: [
          'cloud-credentials create production --cloud eu1 --secret-file token.yaml',
          'cloud-credentials create production --cloud eu1 --secret-file - --expires-at 90d < token.json',
        ],
      },
    },
    ListCloudCredentials: {
      ...common,
      method: 'GET',
      path: '/v1/clouds/{id}/credentials',
      summary: 'List the credentials of a Cloud that you may see',
      description: 'Secrets are never shown. Credentials that the caller may not read are left out.',
      params: ofCloud,
      query: z.strictObject(pageQuery),
      gate: { ...check('observe', 'cloud:{path.id}'), rows: { relation: 'read', object: 'cloudcredential:{row.id}' } },
      audit: { relation: 'cloud_credential.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: {
        200: pageOf(CloudCredential).meta({
          id: 'CloudCredentialList',
          description: 'A page of credentials of a Cloud.',
        }),
      },
      problems: [],
      cli: { command: 'cloud-credentials list', refs: { id: 'clouds' }, columns, wide },
    },
    GetCloudCredential: {
      ...common,
      method: 'GET',
      path: '/v1/cloud-credentials/{id}',
      summary: 'Show a credential of a Cloud, never its secret',
      description: 'With its state and the version of its secret.',
      params,
      gate: { ...check('read', object), ...hidden },
      audit: { relation: 'cloud_credential.read', when: 'all' },
      responses: { 200: CloudCredential },
      problems: [],
      cli: { command: 'cloud-credentials show', args: ['id'], refs, columns, wide },
    },
    PatchCloudCredential: {
      ...common,
      method: 'PATCH',
      path: '/v1/cloud-credentials/{id}',
      summary: 'Rename, suspend or resume a credential, or change when it expires',
      description: 'Absent members stay as they are. The secret is replaced by a rotation alone.',
      params,
      body: CloudCredentialPatchRequest,
      patch: nonEmptyPatch(),
      bodyBytesMax: 8 * KiB,
      gate: mayManage,
      audit: { relation: 'cloud_credential.update', when: 'all' },
      responses: { 200: CloudCredential },
      problems: ['invalid_cloud_credential', 'illegal_transition'],
      sentences,
      cli: {
        command: 'cloud-credentials update',
        args: ['id'],
        refs,
        columns,
        wide,
        done: 'Changed credential {display_name}.',
      },
    },
    DeleteCloudCredential: {
      ...common,
      method: 'DELETE',
      path: '/v1/cloud-credentials/{id}',
      summary: 'Delete a credential that no Project has or has requested',
      description:
        'Its assignments that ended go with it. The secret is destroyed in the secret store behind the answer.',
      params,
      gate: mayManage,
      audit: { relation: 'cloud_credential.delete', when: 'all' },
      responses: { 204: null },
      problems: ['cloud_credential_in_use'],
      cli: {
        command: 'cloud-credentials delete',
        args: ['id'],
        refs,
        confirm: 'yes',
        done: 'Deleted credential {id}.',
      },
    },
    RotateCloudCredential: {
      ...common,
      method: 'POST',
      path: '/v1/cloud-credentials/{id}/rotate',
      summary: 'Replace the secret of a credential',
      description:
        'The credential keeps its id and what it is lent for. The old secret is destroyed behind the answer.',
      params,
      body: CloudCredentialRotateRequest,
      bodyBytesMax: 16 * KiB,
      gate: mayManage,
      audit: { relation: 'cloud_credential.rotate', when: 'all' },
      responses: { 200: CloudCredential },
      problems: [
        'invalid_cloud_credential',
        'illegal_transition',
        'secret_write_in_progress',
        'secret_store_unavailable',
      ],
      sentences,
      cli: {
        command: 'cloud-credentials rotate',
        args: ['id'],
        refs,
        columns,
        wide,
        done: 'Replaced the secret of {display_name}; it has version {secret_version}.',
      },
    },
    RevokeCloudCredential: {
      ...common,
      method: 'POST',
      path: '/v1/cloud-credentials/{id}/revoke',
      summary: 'Revoke a credential for good, and end what it is lent for',
      description: 'Final: a revoked credential is not lent again. Projects that were lent it can no longer use it.',
      params,
      body: CloudCredentialRevokeRequest,
      bodyBytesMax: 8 * KiB,
      gate: mayManage,
      audit: { relation: 'cloud_credential.revoke', when: 'all' },
      responses: { 200: CloudCredential },
      problems: ['illegal_transition'],
      sentences,
      cli: {
        command: 'cloud-credentials revoke',
        args: ['id'],
        refs,
        columns,
        wide,
        confirm: 'yes',
        done: 'Revoked credential {display_name}.',
      },
    },
  },
)
