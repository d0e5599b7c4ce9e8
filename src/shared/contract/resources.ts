import { z } from 'zod'
import { check, defineSurface, open, OPERATOR } from './operation.ts'
import { nonEmptyPatch } from './patch.ts'
import { KiB, pageOf, pageQuery, uuidField } from './fields.ts'
import { Resource, ResourceCreateRequest, ResourcePatchRequest } from './tenancy-schemas.ts'

const ofProject = z.strictObject({ id: uuidField('invalid_project_id', 'Project') })
const params = z.strictObject({
  id: uuidField('invalid_project_id', 'Project'),
  resource_id: uuidField('invalid_resource_id', 'Resource'),
})
const columns = ['slug', 'kind', 'display_name', 'created_at', 'id']
const refs = { id: 'projects', resource_id: 'resources' }

export const resources = defineSurface(
  'resources',
  {
    summary: 'What is deployed in a Project',
    nouns: {
      resources: { section: 'Tenancy', position: 3, types: ['resource', 'network', 'workload'], files: 'managed' },
    },
  },
  {
    CreateResource: {
      method: 'POST',
      path: '/v1/projects/{id}/resources',
      summary: 'Create a resource in a Project',
      description: 'Kind and slug never change. The hosts are nodes of the Domain of the Project.',
      credentials: OPERATOR,
      params: ofProject,
      body: ResourceCreateRequest,
      bodyBytesMax: 8 * KiB,
      gate: check('deploy', 'project:{path.id}'),
      audit: { relation: 'resource.create', when: 'all' },
      responses: { 201: Resource },
      headers: { Location: 'Path of the new resource' },
      problems: ['project_not_found', 'slug_conflict', 'host_node_not_in_domain'],
      notProvisioned: 'not_provisioned',
      cli: {
        command: 'resources create',
        args: ['slug'],
        refs: { id: 'projects', host_node_ids: 'nodes' },
        columns,
        handle: { member: 'slug', taken: 'slug_conflict' },
        done: 'Created {kind} {slug} ({id}).',
      },
    },
    ListResources: {
      method: 'GET',
      path: '/v1/projects/{id}/resources',
      summary: 'List the resources of a Project that you may observe',
      description: 'Resources on which the caller does not hold `observe` are left out.',
      credentials: OPERATOR,
      params: ofProject,
      query: z.strictObject(pageQuery),
      gate: {
        ...open('each row is filtered by the relation observe, since a role on one resource needs none on its Project'),
        rows: { relation: 'observe', object: 'resource:{row.id}' },
      },
      audit: { relation: 'resource.list', when: 'all', object: 'project:{path.id}' },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: { 200: pageOf(Resource).meta({ id: 'ResourceList', description: 'A page of resources.' }) },
      problems: [],
      notProvisioned: 'not_provisioned',
      cli: { command: 'resources list', refs: { id: 'projects' }, columns, wide: ['host_node_ids'] },
    },
    GetResource: {
      method: 'GET',
      path: '/v1/projects/{id}/resources/{resource_id}',
      summary: 'Show a resource',
      description: 'A role on the resource is enough; none on its Project is needed.',
      credentials: OPERATOR,
      params,
      gate: check('observe', 'resource:{path.resource_id}'),
      audit: { relation: 'resource.read', when: 'all' },
      responses: { 200: Resource },
      problems: ['resource_not_found'],
      notProvisioned: 'not_provisioned',
      cli: { command: 'resources show', args: ['resource_id'], refs, columns },
    },
    PatchResource: {
      method: 'PATCH',
      path: '/v1/projects/{id}/resources/{resource_id}',
      summary: 'Change the name or the hosts of a resource',
      description: 'Absent members stay as they are. `host_node_ids` replaces the whole set.',
      credentials: OPERATOR,
      params,
      body: ResourcePatchRequest,
      patch: nonEmptyPatch(),
      bodyBytesMax: 8 * KiB,
      gate: check('manage', 'resource:{path.resource_id}'),
      audit: { relation: 'resource.update', when: 'all' },
      responses: { 200: Resource },
      problems: ['resource_not_found', 'host_node_not_in_domain', 'bridge_port_conflict'],
      sentences: {
        bridge_port_conflict:
          'An ingress rule of the bridge has one of these nodes as its target, on a port that the bridge listens on.',
      },
      notProvisioned: 'not_provisioned',
      cli: {
        command: 'resources update',
        args: ['resource_id'],
        refs: { ...refs, host_node_ids: 'nodes' },
        columns,
        done: 'Changed {kind} {slug}.',
      },
    },
    DeleteResource: {
      method: 'DELETE',
      path: '/v1/projects/{id}/resources/{resource_id}',
      summary: 'Delete a resource',
      description: 'Its configuration, labels and roles go with it.',
      credentials: OPERATOR,
      params,
      gate: check('manage', 'resource:{path.resource_id}'),
      audit: { relation: 'resource.delete', when: 'all' },
      responses: { 204: null },
      problems: ['resource_not_found'],
      notProvisioned: 'not_provisioned',
      cli: {
        command: 'resources delete',
        args: ['resource_id'],
        refs,
        confirm: 'yes',
        done: 'Deleted resource {resource_id}.',
      },
    },
  },
)
