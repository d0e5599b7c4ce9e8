import { z } from 'zod'
import { check, defineSurface, open, OPERATOR } from './operation.ts'
import { nonEmptyPatch } from './patch.ts'
import { KiB, pageOf, pageQuery, uuidField } from './fields.ts'
import { Project, ProjectCreateRequest, ProjectPatchRequest } from './tenancy-schemas.ts'

const ofDomain = z.strictObject({ id: uuidField('invalid_domain_id', 'Domain') })
const params = z.strictObject({ id: uuidField('invalid_project_id', 'Project') })
const columns = ['slug', 'display_name', 'created_at', 'id']

export const projects = defineSurface(
  'projects',
  {
    summary: 'Parts of a Domain that one team works in',
    nouns: { projects: { section: 'Tenancy', position: 2, types: ['project'], files: 'managed' } },
  },
  {
    CreateProject: {
      method: 'POST',
      path: '/v1/domains/{id}/projects',
      summary: 'Create a Project in a Domain',
      description:
        'It is empty, and nobody holds a role on it but those who inherit one from the Domain. The slug is unique in the Domain and never changes.',
      credentials: OPERATOR,
      params: ofDomain,
      body: ProjectCreateRequest,
      bodyBytesMax: 8 * KiB,
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'project.create', when: 'all' },
      responses: { 201: Project },
      headers: { Location: 'Path of the new Project' },
      problems: ['domain_not_found', 'slug_conflict'],
      notProvisioned: 'not_provisioned',
      cli: {
        command: 'projects create',
        args: ['slug'],
        refs: { id: 'domains' },
        columns,
        handle: { member: 'slug', taken: 'slug_conflict' },
        done: 'Created Project {slug} ({id}).',
      },
    },
    ListProjects: {
      method: 'GET',
      path: '/v1/domains/{id}/projects',
      summary: 'List the Projects of a Domain that you may read',
      description: 'Projects on which the caller does not hold `read` are left out.',
      credentials: OPERATOR,
      params: ofDomain,
      query: z.strictObject(pageQuery),
      gate: {
        ...open('each row is filtered by the relation read, since a Project role needs none on the Domain'),
        rows: { relation: 'read', object: 'project:{row.id}' },
      },
      audit: { relation: 'project.list', when: 'all', object: 'domain:{path.id}' },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: { 200: pageOf(Project).meta({ id: 'ProjectList', description: 'A page of Projects.' }) },
      problems: [],
      notProvisioned: 'not_provisioned',
      cli: { command: 'projects list', refs: { id: 'domains' }, columns },
    },
    GetProject: {
      method: 'GET',
      path: '/v1/projects/{id}',
      summary: 'Show a Project',
      description: 'A role on the Project is enough; none on its Domain is needed.',
      credentials: OPERATOR,
      params,
      gate: check('read', 'project:{path.id}'),
      audit: { relation: 'project.read', when: 'all' },
      responses: { 200: Project },
      problems: ['project_not_found'],
      notProvisioned: 'not_provisioned',
      cli: { command: 'projects show', args: ['id'], refs: { id: 'projects' }, columns },
    },
    PatchProject: {
      method: 'PATCH',
      path: '/v1/projects/{id}',
      summary: 'Rename a Project',
      description: 'Only the name for people changes; the slug never does.',
      credentials: OPERATOR,
      params,
      body: ProjectPatchRequest,
      patch: nonEmptyPatch(),
      bodyBytesMax: 8 * KiB,
      gate: check('manage', 'project:{path.id}'),
      audit: { relation: 'project.update', when: 'all' },
      responses: { 200: Project },
      problems: ['project_not_found'],
      notProvisioned: 'not_provisioned',
      cli: {
        command: 'projects update',
        args: ['id'],
        refs: { id: 'projects' },
        columns,
        done: 'Changed Project {slug}.',
      },
    },
    DeleteProject: {
      method: 'DELETE',
      path: '/v1/projects/{id}',
      summary: 'Delete an empty Project',
      description: 'A Project that still has content is refused with `project_not_empty`, which counts what is left.',
      credentials: OPERATOR,
      params,
      gate: check('manage', 'project:{path.id}'),
      audit: { relation: 'project.delete', when: 'all' },
      responses: { 204: null },
      problems: ['project_not_found', 'project_not_empty'],
      notProvisioned: 'not_provisioned',
      cli: {
        command: 'projects delete',
        args: ['id'],
        refs: { id: 'projects' },
        confirm: 'typed',
        done: 'Deleted Project {id}.',
      },
    },
  },
)
