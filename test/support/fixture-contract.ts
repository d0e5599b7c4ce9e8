import { z } from 'zod'
import { check, defineSurface, open } from '../../src/shared/contract/operation.ts'
import { Instant, KiB, pageOf, pageQuery, Slug, Uuid, uuidField } from '../../src/shared/contract/fields.ts'

const projectPath = z.strictObject({ project_id: uuidField('invalid_project_id', 'Project') })
const nodePath = z.strictObject({ id: uuidField('invalid_node_id', 'Node') })
const thingPath = z.strictObject({ id: uuidField('invalid_resource_id', 'Thing') })

const Thing = z
  .object({ id: Uuid, project_id: Uuid, slug: z.string(), created_at: Instant, secret: z.string().optional() })
  .meta({ id: 'Thing' })

/** Used both ways: its input form is strict, its output form is not. */
const Place = z.strictObject({ shelf: z.int().min(1).max(9) }).meta({ id: 'Place' })

const operator = ['api-token', 'session'] as const

/** Operations that exist for tests alone: each uses a part of the vocabulary, and together they use all of it. */
export const fixture = defineSurface('fixture', 'What the vocabulary of the contract can say', {
  GetOpenThing: {
    method: 'GET',
    path: '/v1/fixture/open',
    summary: 'Answer anybody',
    credentials: [],
    gate: open('a fixture: open'),
    audit: { none: 'a fixture: none' },
    responses: { 200: z.object({ has_caller: z.boolean() }) },
    problems: [],
  },
  CreateThing: {
    method: 'POST',
    path: '/v1/fixture/projects/{project_id}/things',
    summary: 'Create a thing',
    credentials: operator,
    params: projectPath,
    body: z
      .strictObject({
        slug: Slug.meta({ problem: 'invalid_checksum' }),
        place: Place.optional(),
        forbidden: z.never().optional().meta({ problem: 'empty_patch' }),
        notes: z.record(z.string().max(64), z.unknown()).optional(),
      })
      .meta({ id: 'ThingCreateRequest' }),
    bodyBytesMax: 2 * KiB,
    gate: check('manage', 'project:{path.project_id}'),
    audit: { relation: 'fixture.thing.create', when: 'all' },
    responses: { 201: Thing },
    headers: { Location: 'Path of the thing' },
    problems: ['slug_conflict'],
  },
  ListThings: {
    method: 'GET',
    path: '/v1/fixture/things',
    summary: 'List things in Projects that you may read',
    credentials: operator,
    query: z.strictObject({ kind: z.enum(['a', 'b']).optional().meta({ problem: 'invalid_kind' }), ...pageQuery }),
    gate: { ...open('a fixture: rows are filtered'), rows: { relation: 'read', object: 'project:{row.project_id}' } },
    audit: { relation: 'fixture.thing.list', when: 'all', object: 'platform:main', faults: 'thing.list.faults' },
    paging: { limit: 'rejected', cursor: 'operation' },
    responses: { 200: pageOf(Thing).meta({ id: 'ThingList' }) },
    problems: [],
  },
  ListOwnThings: {
    method: 'GET',
    path: '/v1/fixture/own-things',
    summary: 'List things by a cursor of your own',
    credentials: operator,
    query: z.strictObject(pageQuery),
    gate: check('read', 'domain:{caller.domain_id}'),
    audit: { relation: 'fixture.own_thing.list', when: 'all' },
    paging: { limit: 'clamped', cursor: 'caller' },
    responses: { 200: pageOf(Thing).meta({ id: 'OwnThingList' }) },
    problems: [],
  },
  GetThing: {
    method: 'GET',
    path: '/v1/fixture/projects/{project_id}/things/{slug}',
    summary: 'Show a thing, its secret to managers alone',
    credentials: operator,
    params: projectPath.extend({ slug: z.string().min(1).max(128) }),
    gate: {
      ...check('read', 'project:{path.project_id}'),
      probes: { reveal: { relation: 'manage', object: 'project:{path.project_id}' } },
    },
    audit: { relation: 'fixture.thing.read', when: 'all' },
    responses: { 200: Thing },
    problems: ['resource_not_found'],
  },
  GetFoldedThing: {
    method: 'GET',
    path: '/v1/fixture/folded/{project_id}',
    summary: 'Show a thing that is not there to those who may not see it; nodes need no relation',
    credentials: [...operator, 'nsk'],
    params: projectPath,
    gate: { ...check('read', 'project:{path.project_id}'), fold: 'project_not_found', skipFor: ['nsk'] },
    audit: { relation: 'fixture.folded.read', when: 'all' },
    responses: { 200: z.object({ id: Uuid }) },
    problems: ['project_not_found'],
  },
  PatchThing: {
    method: 'PATCH',
    path: '/v1/fixture/things/{id}',
    summary: 'Change a thing, whose row is read before the gate',
    credentials: operator,
    params: thingPath,
    body: z.strictObject({ slug: Slug.optional() }),
    bodyBytesMax: KiB,
    overCap: 'invalid_body',
    gate: { ...check('manage', 'project:{row.project_id}'), missingRow: 'resource_not_found' },
    audit: { relation: 'fixture.thing.update', when: 'all', object: 'resource:{path.id}' },
    responses: { 200: Thing },
    problems: ['empty_patch'],
  },
  DeleteThing: {
    method: 'DELETE',
    path: '/v1/fixture/things/{id}',
    summary: 'Delete a thing, by one relation or another',
    credentials: operator,
    params: thingPath,
    gate: {
      anyOf: [
        { relation: 'manage', object: 'project:{row.project_id}' },
        { relation: 'operate', object: 'domain:{row.domain_id}' },
      ],
      denial: { relation: 'deploy', object: 'project:{row.project_id}' },
      missingRow: 'resource_not_found',
    },
    audit: { relation: 'fixture.thing.delete', when: 'denials' },
    responses: { 204: null },
    problems: [],
  },
  PostTransfer: {
    method: 'POST',
    path: '/v1/fixture/transfers',
    summary: 'Move everything into a Project that the body names',
    credentials: operator,
    body: z
      .strictObject({ project_id: uuidField('invalid_project_id', 'Project'), reason: z.string().min(1).max(16) })
      .meta({ id: 'TransferRequest', problem: 'invalid_service_identity' }),
    bodyBytesMax: KiB,
    gate: check('deploy', 'project:{body.project_id}'),
    audit: { relation: 'fixture.transfer', when: 'all' },
    responses: { 200: z.object({ moved: z.int() }) },
    problems: ['project_not_found'],
    idempotent: true,
    access: 'read',
  },
  PutNodeNote: {
    method: 'PUT',
    path: '/v1/fixture/nodes/{id}/note',
    summary: 'Keep a note of a node',
    credentials: ['nsk'],
    unauthenticated: 'unauthorized',
    params: nodePath,
    body: z.strictObject({ note: z.string().max(64) }),
    bodyBytesMax: KiB,
    gate: { ...open('a fixture: a node speaks for itself'), ownNode: { param: 'id', mismatch: 'node_id_mismatch' } },
    audit: { relation: 'fixture.note', when: 'denials', object: 'node:{path.id}', pathGate: 'fixture.note.path_gate' },
    responses: { 200: z.object({ kid: z.string() }) },
    problems: [],
  },
  GetNodeNote: {
    method: 'GET',
    path: '/v1/fixture/nodes/{id}/note',
    summary: 'Read the note of a node, as the node or as an operator',
    credentials: ['api-token', 'nsk'],
    params: nodePath,
    gate: { ...check('manage', 'platform:main'), ownNode: { param: 'id', mismatch: 'node_id_mismatch' } },
    audit: { relation: 'fixture.note.read', when: 'all' },
    responses: { 200: { media: 'application/octet-stream', describe: 'The note' } },
    problems: [],
  },
  PostForm: {
    method: 'POST',
    path: '/v1/fixture/forms',
    summary: 'Take a form as well as JSON',
    credentials: operator,
    body: z.strictObject({ grant_type: z.string().min(1).max(32), scope: z.string().max(64).optional() }),
    bodyBytesMax: KiB,
    bodyMedia: ['application/json', 'application/x-www-form-urlencoded'],
    gate: open('a fixture: the caller alone'),
    audit: { relation: 'fixture.form', when: 'all', object: '{caller.subject}' },
    responses: { 200: z.object({ grant_type: z.string(), scope: z.string().optional() }) },
    problems: [],
  },
  GetOldThing: {
    method: 'GET',
    path: '/v1/fixture/old',
    summary: 'Answer as long as anybody asks',
    credentials: operator,
    gate: check('read', 'platform:main'),
    audit: { relation: 'fixture.old', when: 'all' },
    responses: { 200: z.object({ place: Place }) },
    problems: [],
    deprecated: { since: '2026-01-01T00:00:00Z', sunset: '2027-01-01T00:00:00Z' },
  },
  PostSteppedUp: {
    method: 'POST',
    path: '/v1/fixture/stepped-up',
    summary: 'Act after a stronger sign-in',
    credentials: operator,
    gate: { ...open('a fixture: the step-up is the gate'), stepUp: 'strong' },
    audit: { relation: 'fixture.stepped_up', when: 'all', object: '{caller.subject}' },
    responses: { 204: null },
    problems: [],
  },
})

/** Operations whose collaborators are not wired. */
export const unwired = defineSurface('unwired', 'What this server is not configured for', {
  GetUnwired: {
    method: 'GET',
    path: '/v1/fixture/unwired/{id}',
    summary: 'Answer once something is configured',
    credentials: operator,
    params: nodePath,
    gate: check('manage', 'platform:main'),
    audit: { relation: 'fixture.unwired', when: 'all' },
    responses: { 200: z.object({}) },
    problems: [],
    notProvisioned: 'heartbeat_not_provisioned',
  },
})
