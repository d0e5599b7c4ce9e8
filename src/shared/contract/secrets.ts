import { z } from 'zod'
import { heldFor } from './held-calls.ts'
import { check, defineSurface, OPERATOR } from './operation.ts'
import { CreatedAt, CreatedBy, InProject, KiB, OwnId, pageOf, pageQuery, UpdatedAt, uuidField } from './fields.ts'

/** Longest value of a secret, in bytes of UTF-8. */
const VALUE_BYTES_MAX = 64 * KiB

const Secret = z
  .object({
    id: OwnId,
    project_id: InProject,
    name: z.string().describe('Name of the secret, unique in the Project'),
    latest_version: z.int().describe('The newest version that was not deleted'),
    versions: z
      .array(
        z.object({
          version: z.int().describe('Number of the version: 1, 2, 3 …'),
          created_by: CreatedBy,
          created_at: CreatedAt,
        }),
      )
      .describe('Oldest first, at most 100; a deleted version is absent'),
    users: z
      .array(
        z.object({
          object: z.string().describe('What refers to it, `<type>:<id>`'),
          version: z.int().nullable().describe('Null for whatever version is the newest'),
        }),
      )
      .describe('What refers to the secret'),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'Secret', description: 'A secret of a Project, without its value.' })

const SecretWriteRequest = z
  .strictObject({
    value: z
      .string()
      .min(1)
      .refine((value) => new TextEncoder().encode(value).length <= VALUE_BYTES_MAX, {
        error: 'must be at most 65,536 bytes of UTF-8',
      })
      .meta({ problem: 'invalid_secret', writeOnly: true, description: 'The secret text, never shown again' }),
  })
  .meta({ id: 'SecretWriteRequest', description: 'The value of a new version of a secret.' })

const ofProject = z.strictObject({ id: uuidField('invalid_project_id', 'Project') })
const params = ofProject.extend({
  name: z
    .string()
    .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, {
      error: 'must be lower-case letters, digits and inner hyphens, at most 63',
    })
    .meta({ problem: 'invalid_secret', description: 'Name of the secret' }),
})
const query = z.strictObject({
  version: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, { error: 'must be a whole number from 1' })
    .transform(Number)
    .optional()
    .meta({ description: 'Only this version; the whole secret when absent' }),
})
const columns = ['name', 'latest_version', 'updated_at', 'id']
const refs = { id: 'projects' }
const common = { credentials: OPERATOR, notProvisioned: 'not_provisioned' } as const

export const secrets = defineSurface(
  'secrets',
  {
    summary: 'Secrets of Projects, kept in the secret store by version',
    nouns: { secrets: { section: 'Tenancy', position: 4, files: 'managed' } },
  },
  {
    PutSecret: {
      ...common,
      method: 'PUT',
      path: '/v1/projects/{id}/secrets/{name}',
      summary: 'Write a new version of a secret',
      description:
        'Creates the secret with its first version. A secret has one write at a time, and keeps at most 100 versions. The value is never shown again.',
      params,
      body: SecretWriteRequest,
      bodyBytesMax: 400 * KiB,
      overCap: 'invalid_secret',
      gate: check('manage', 'project:{path.id}'),
      audit: { relation: 'secret.write', when: 'all' },
      responses: { 200: Secret },
      problems: [
        'project_not_found',
        'invalid_secret',
        'secret_versions_exhausted',
        'secret_write_in_progress',
        'secret_store_unavailable',
      ],
      cli: {
        command: 'secrets put',
        args: ['name'],
        refs,
        columns,
        done: 'Wrote version {latest_version} of secret {name}.',
        examples: [
          'secrets put registry-token --project web --value-file token',
          'secrets put registry-token --project web --value-file - < token',
        ],
      },
    },
    ListSecrets: {
      ...common,
      method: 'GET',
      path: '/v1/projects/{id}/secrets',
      summary: 'List the secrets of a Project with their versions and users, never a value',
      description: 'In the order of their names. Values are only given to nodes that need them.',
      params: ofProject,
      query: z.strictObject(pageQuery),
      gate: check('deploy', 'project:{path.id}'),
      audit: { relation: 'secret.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: { 200: pageOf(Secret).meta({ id: 'SecretList', description: 'A page of secrets.' }) },
      problems: [],
      cli: { command: 'secrets list', refs, columns },
    },
    GetSecret: {
      ...common,
      method: 'GET',
      path: '/v1/projects/{id}/secrets/{name}',
      summary: 'Show the versions and users of a secret, never its value',
      description: 'The users are the configurations that refer to it, each with the version that it names.',
      params,
      gate: check('deploy', 'project:{path.id}'),
      audit: { relation: 'secret.read', when: 'all' },
      responses: { 200: Secret },
      problems: ['invalid_secret', 'secret_not_found'],
      cli: { command: 'secrets show', args: ['name'], refs, columns: [...columns, 'versions', 'users'] },
    },
    DeleteSecret: {
      ...common,
      method: 'DELETE',
      path: '/v1/projects/{id}/secrets/{name}',
      summary: 'Delete a secret, or one version of it',
      description:
        'What still refers to it keeps it: to the version that is deleted, or to the newest one where that is. Deleting the only version deletes the secret. The bytes are destroyed in the secret store behind the answer.',
      params,
      query,
      gate: check('manage', 'project:{path.id}'),
      audit: { relation: 'secret.delete', when: 'all' },
      dualControl: heldFor('Delete from the secret {path.name} of project:{path.id}', 'secrets.delete'),
      responses: { 204: null },
      problems: ['invalid_secret', 'secret_not_found', 'secret_in_use'],
      cli: {
        command: 'secrets delete',
        args: ['name'],
        refs,
        confirm: 'yes',
        done: 'Deleted; the bytes in {name} are destroyed shortly.',
      },
    },
  },
)
