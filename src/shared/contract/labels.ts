import { z } from 'zod'
import { LABEL_KINDS } from '../labels/label-kinds.ts'
import { KiB, pageOf, pageQuery, uuidField } from './fields.ts'
import {
  LabelAssignment,
  LabelAssignmentList,
  LabelAssignmentRequest,
  LabelDefinition,
  LabelDefinitionRequest,
  LabelDefinitionUpdateRequest,
  LabelScope,
  QualifiedKey,
} from './label-schemas.ts'
import { check, defineSurface, OPERATOR } from './operation.ts'
import { nonEmptyPatch } from './patch.ts'

const definition = z.strictObject({ id: uuidField('invalid_definition_id', 'Label Definition') })
const target = z.strictObject({
  kind: z.enum(LABEL_KINDS).meta({ problem: 'invalid_kind', description: 'Kind of the object' }),
  id: uuidField('invalid_object_id', 'The object'),
})
const columns = ['qualified_key', 'type', 'on_delete', 'immutable', 'inherit', 'kinds', 'description']
const wide = ['id', 'system', 'value_schema', 'created_at', 'updated_at']
const labelColumns = ['qualified_key', 'value', 'assigned_by', 'updated_at']
const labelWide = ['definition_id', 'created_at', 'kind', 'object_id']
const common = {
  credentials: OPERATOR,
  notProvisioned: 'labels_not_provisioned',
} as const
const ofScope = {
  sentences: { invalid_scope: 'The scope is platform, domain:<uuid> or project:<uuid>, of a UUID other than zero.' },
} as const
const ofObject = {
  sentences: { invalid_kind: 'Objects of this kind cannot have labels; the documentation lists the kinds.' },
} as const

// Of its own id alone: the row says which object its scope is (decisions: Objects addressed by id alone).
const scopeObject = '{row.scope}'
const own = 'labeldefinition:{path.id}'
const mayChange = {
  ...check('manage', scopeObject),
  missingRow: 'definition_not_found',
  fold: 'definition_not_found',
  foldUnless: [
    { relation: 'read', object: own },
    { relation: 'assign', object: own },
  ],
} as const

export const labels = defineSurface(
  'labels',
  {
    summary: 'Label Definitions, and the labels of objects',
    nouns: { labels: { section: 'Fleet', position: 4, types: ['labeldefinition'], files: 'managed' } },
  },
  {
    ListLabelDefinitions: {
      ...common,
      ...ofScope,
      method: 'GET',
      path: '/v1/label-definitions',
      summary: 'List the label Definitions of a scope that you may see',
      description: 'With `include=enclosing` also those of the scopes around it.',
      query: z.strictObject({
        scope: LabelScope,
        include: z.enum(['enclosing']).optional().describe('Also the Definitions of the enclosing scopes'),
        ...pageQuery,
      }),
      gate: {
        ...check('read', '{query.scope}'),
        rows: [
          { relation: 'read', object: 'labeldefinition:{row.id}' },
          { relation: 'assign', object: 'labeldefinition:{row.id}' },
        ],
      },
      audit: { relation: 'label_definition.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation', parents: ['include'] },
      responses: {
        200: pageOf(LabelDefinition).meta({
          id: 'LabelDefinitionListResponse',
          description: 'A page of label Definitions.',
        }),
      },
      problems: [],
      cli: { command: 'labels definitions', columns, wide },
    },
    CreateLabelDefinition: {
      ...common,
      ...ofScope,
      method: 'POST',
      path: '/v1/label-definitions',
      summary: 'Define a label that objects of a scope may have',
      description:
        'A label is set on objects only after it was defined. The qualified key, scope and local key together, is unique.',
      body: LabelDefinitionRequest,
      bodyBytesMax: 8 * KiB,
      gate: check('manage', '{body.scope}'),
      audit: { relation: 'label_definition.create', when: 'all' },
      responses: { 201: LabelDefinition },
      headers: { Location: 'Path of the new Definition' },
      problems: ['definition_conflict', 'aggregate_invariant', 'domain_not_found', 'project_not_found'],
      cli: { command: 'labels define', columns, wide, done: 'Defined {qualified_key}.' },
    },
    GetLabelDefinition: {
      ...common,
      method: 'GET',
      path: '/v1/label-definitions/{id}',
      summary: 'Show a label Definition',
      description: 'The answer is the same for everybody who may read or assign it.',
      params: definition,
      gate: {
        anyOf: [
          { relation: 'read', object: own },
          { relation: 'assign', object: own },
        ],
        fold: 'definition_not_found',
      },
      audit: { relation: 'label_definition.read', when: 'all' },
      responses: { 200: LabelDefinition },
      problems: ['definition_not_found'],
      cli: { command: 'labels definition', args: ['id'], refs: { id: 'labels' }, columns, wide },
    },
    UpdateLabelDefinition: {
      ...common,
      method: 'PATCH',
      path: '/v1/label-definitions/{id}',
      summary: 'Change a label Definition, except for its scope and key',
      description: 'Absent members stay as they are. A value schema that assigned values do not fit is refused.',
      params: definition,
      body: LabelDefinitionUpdateRequest,
      patch: nonEmptyPatch(),
      bodyBytesMax: 8 * KiB,
      gate: mayChange,
      audit: { relation: 'label_definition.update', when: 'all' },
      responses: { 200: LabelDefinition },
      problems: ['definition_not_found', 'immutable_violation', 'assignments_exist', 'aggregate_invariant'],
      cli: {
        command: 'labels redefine',
        args: ['id'],
        refs: { id: 'labels' },
        columns,
        wide,
        done: 'Changed {qualified_key}.',
      },
    },
    DeleteLabelDefinition: {
      ...common,
      method: 'DELETE',
      path: '/v1/label-definitions/{id}',
      summary: 'Delete a label Definition; on_delete says what happens to the labels',
      description:
        'With `block` it is refused while objects have the label, with `cascade` their labels go with it, with `orphan` they stay without a Definition.',
      params: definition,
      gate: mayChange,
      audit: { relation: 'label_definition.delete', when: 'all' },
      responses: { 204: null },
      problems: ['definition_not_found', 'assignments_exist', 'definition_in_use', 'aggregate_invariant'],
      cli: {
        command: 'labels undefine',
        args: ['id'],
        refs: { id: 'labels' },
        confirm: 'yes',
        done: 'Deleted Definition {id}.',
      },
    },
    ListObjectLabels: {
      ...common,
      ...ofObject,
      method: 'GET',
      path: '/v1/objects/{kind}/{id}/labels',
      summary: 'List the labels of an object',
      description:
        '`view=effective` adds what the object inherits from its Project and Domain, and leaves out labels whose Definition was deleted.',
      params: target,
      query: z.strictObject({
        view: z.enum(['own', 'effective']).optional().describe('`effective` adds inherited labels; `own` by default'),
      }),
      gate: check('maintainer', '{path.kind}:{path.id}'),
      audit: { relation: 'label_assignment.list', when: 'all' },
      responses: { 200: LabelAssignmentList },
      problems: ['object_not_found'],
      cli: { command: 'labels list', columns: labelColumns, wide: labelWide },
    },
    ListDomainLabels: {
      ...common,
      ...ofObject,
      method: 'GET',
      path: '/v1/domains/{id}/labels',
      summary: 'List the labels of all objects of a Domain',
      description:
        'Own labels of the Domain, its Projects, nodes, resources, groups, users and service identities, by kind and id of the object. Labels of objects that you do not maintain, with Definitions that you may not see, or whose Definition was deleted are left out.',
      params: z.strictObject({ id: uuidField('invalid_domain_id', 'Domain') }),
      query: z.strictObject({
        kind: z
          .enum(LABEL_KINDS)
          .optional()
          .meta({ problem: 'invalid_kind', description: 'Only labels of objects of this kind' }),
        ...pageQuery,
      }),
      gate: {
        ...check('read', 'domain:{path.id}'),
        rows: { relation: 'maintainer', object: '{row.kind}:{row.object_id}' },
      },
      audit: { relation: 'domain_label.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation', parents: ['kind'] },
      responses: {
        200: pageOf(LabelAssignment).meta({ id: 'DomainLabelList', description: 'A page of labels of objects.' }),
      },
      problems: [],
      cli: {
        command: 'labels assigned',
        refs: { id: 'domains' },
        columns: ['kind', 'object_id', ...labelColumns],
        wide: ['definition_id', 'created_at'],
      },
    },
    PutObjectLabel: {
      ...common,
      ...ofObject,
      method: 'PUT',
      path: '/v1/objects/{kind}/{id}/labels',
      summary: 'Give an object a label, or another value of it',
      description: 'An object has each label at most once: another value replaces the current one.',
      params: target,
      body: LabelAssignmentRequest,
      bodyBytesMax: 8 * KiB,
      gate: {
        allOf: [
          { relation: 'maintainer', object: '{path.kind}:{path.id}' },
          { relation: 'assign', object: 'labeldefinition:{row.definition_id}' },
        ],
        missingRow: 'definition_not_found',
        fold: 'definition_not_found',
        foldUnless: [{ relation: 'read', object: 'labeldefinition:{row.definition_id}' }],
      },
      audit: { relation: 'label_assignment.upsert', when: 'all' },
      responses: { 200: LabelAssignment },
      problems: [
        'object_not_found',
        'definition_not_found',
        'immutable_violation',
        'cardinality_exceeded',
        'aggregate_invariant',
      ],
      cli: { command: 'labels set', columns: labelColumns, wide: labelWide },
    },
    DeleteObjectLabel: {
      ...common,
      ...ofObject,
      method: 'DELETE',
      path: '/v1/objects/{kind}/{id}/labels',
      summary: 'Take a label from an object',
      description: 'A label that the object does not have is answered like one that it had.',
      params: target,
      query: z.strictObject({ qualified_key: QualifiedKey }),
      gate: check('maintainer', '{path.kind}:{path.id}'),
      audit: { relation: 'label_assignment.delete', when: 'all' },
      responses: { 204: null },
      problems: ['object_not_found', 'immutable_violation'],
      cli: { command: 'labels remove' },
    },
  },
)
