import { z } from 'zod'
import {
  RelationTuple,
  RelationTupleBulkRequest,
  RelationTupleBulkResponse,
  RelationTupleCreateRequest,
  RelationTupleList,
  RelationTuplePatchRequest,
} from './authz-schemas.ts'
import { check, defineSurface, open, OPERATOR } from './operation.ts'
import { fullReplacement } from './patch.ts'
import { KiB, pageQuery, Reference, uuidField } from './fields.ts'

const projectId = uuidField('invalid_project_id', 'Project')
const params = z.strictObject({ id: uuidField('invalid_tuple_id', 'Tuple') })
const columns = ['subject', 'relation', 'resource', 'created_at', 'id']
const refs = { project_id: 'projects', subject: 'subjects', resource: 'objects' }
const common = { credentials: OPERATOR, notProvisioned: 'authz_not_provisioned' } as const

export const relationTuples = defineSurface(
  'relation-tuples',
  {
    summary: 'Who holds which role on the objects of a Project',
    nouns: { tuples: { section: 'Access', position: 6, files: 'managed' } },
  },
  {
    ListRelationTuples: {
      ...common,
      method: 'GET',
      path: '/v1/authz/relation-tuples',
      summary: 'List the tuples of a Project whose resources you may read',
      description: 'In the order of their ids. Parent edges, which only the service writes, are not listed.',
      query: z.strictObject({
        project_id: projectId,
        resource: Reference.optional()
          .meta({ problem: 'invalid_triple' })
          .describe('Only tuples on this object, e.g. node:<uuid>'),
        ...pageQuery,
      }),
      gate: {
        ...check('read', 'project:{query.project_id}'),
        rows: { relation: 'read', object: '{row.resource}' },
      },
      audit: { relation: 'authz.relation_tuple.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: { 200: RelationTupleList },
      problems: [],
      cli: {
        command: 'tuples list',
        refs: { project_id: 'projects', resource: 'objects' },
        columns,
        wide: ['caveat_context'],
      },
    },
    CreateRelationTuple: {
      ...common,
      method: 'POST',
      path: '/v1/authz/relation-tuples',
      summary: 'Bind a subject to an object of a Project by a role',
      description:
        'The object is the Project that the query names, or an object in it. One subject holds a role on an object at most once.',
      query: z.strictObject({ project_id: projectId }),
      body: RelationTupleCreateRequest,
      bodyBytesMax: 8 * KiB,
      gate: check('manage', 'project:{query.project_id}'),
      audit: { relation: 'authz.relation_tuple.create', when: 'all' },
      responses: { 201: RelationTuple },
      headers: { Location: 'Path of the new tuple' },
      problems: ['invalid_triple', 'project_not_found', 'resource_not_in_project', 'tuple_already_exists'],
      cli: {
        command: 'tuples create',
        args: ['subject', 'relation', 'resource'],
        refs,
        columns,
        done: 'Granted {relation} on {resource} to {subject}.',
      },
    },
    BulkCreateRelationTuples: {
      ...common,
      method: 'POST',
      path: '/v1/authz/relation-tuples/bulk',
      summary: 'Create many tuples in one revision, all of them or none',
      description:
        'A refusal has the code of the first invalid row and lists the first 20 invalid rows in errors, each with its row number (from 1), its code and the fault; error_count is their total.',
      body: RelationTupleBulkRequest,
      bodyBytesMax: 1024 * KiB,
      gate: open('each row is gated as CreateRelationTuple, on its own Project, before anything is read'),
      audit: { relation: 'authz.relation_tuple.bulk_create', when: 'all' },
      responses: { 201: RelationTupleBulkResponse },
      problems: [
        'permission_denied',
        'invalid_triple',
        'project_not_found',
        'resource_not_in_project',
        'tuple_already_exists',
        'authz_unavailable',
      ],
      cli: { command: 'tuples import' },
    },
    PatchRelationTuple: {
      ...common,
      method: 'PATCH',
      path: '/v1/authz/relation-tuples/{id}',
      summary: 'Replace a tuple by another of the same Project',
      description:
        'The body is the whole new tuple. The old one is deleted first and the new one written then: after a 500 the old binding may be gone, and the same call is then 404 tuple_not_found. Create the new tuple in that case.',
      params,
      body: RelationTuplePatchRequest,
      patch: fullReplacement('S0 Relation tuples: the body is the whole new tuple'),
      bodyBytesMax: 8 * KiB,
      gate: { ...check('manage', '{row.resource}'), missingRow: 'tuple_not_found' },
      audit: { relation: 'authz.relation_tuple.update', when: 'all' },
      responses: { 200: RelationTuple },
      problems: ['invalid_triple', 'resource_not_in_project', 'tuple_already_exists'],
      cli: {
        command: 'tuples update',
        args: ['id'],
        refs: { id: 'tuples', subject: 'subjects', resource: 'objects' },
        columns,
        done: '{subject} holds {relation} on {resource} now, as tuple {id}.',
      },
    },
    DeleteRelationTuple: {
      ...common,
      method: 'DELETE',
      path: '/v1/authz/relation-tuples/{id}',
      summary: 'Delete a tuple',
      description: 'The role ends with the answer. It needs `manage` on the object of the tuple.',
      params,
      gate: { ...check('manage', '{row.resource}'), missingRow: 'tuple_not_found' },
      audit: { relation: 'authz.relation_tuple.delete', when: 'all' },
      responses: { 204: null },
      problems: [],
      cli: {
        command: 'tuples delete',
        args: ['id'],
        refs: { id: 'tuples' },
        confirm: 'yes',
        done: 'Deleted tuple {id}.',
      },
    },
  },
)
