import { z } from 'zod'
import { isNonZeroUuid } from '../ids.ts'
import { LABEL_KINDS } from '../labels/label-kinds.ts'
import { LABEL_TYPES } from '../labels/schema-types.ts'
import { VALUE_CHARACTERS_MAX } from '../selectors/syntax.ts'
import { withRule, type NamedMembers, type RuleFault } from './body-rules.ts'
import { Cursor, Instant, uuidField, Uuid } from './fields.ts'

const SCOPE = /^(platform|domain:[0-9a-fA-F-]{36}|project:[0-9a-fA-F-]{36})$/

/** `platform`, `domain:<uuid>` or `project:<uuid>` (S1 Label registry), read as the object whose scope it is. */
export const LabelScope: z.ZodType<string, string> = z
  .string()
  .regex(SCOPE)
  .refine((text) => text === 'platform' || isNonZeroUuid(text.slice(text.indexOf(':') + 1)), {
    error: 'must name a UUID other than zero',
  })
  .transform((text) => (text === 'platform' ? 'platform:main' : text.toLowerCase()))
  .meta({ problem: 'invalid_scope', description: 'platform, domain:<uuid> or project:<uuid>' })

const LocalKey = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?$/)
  .describe('Lower-case letters, digits and inner `.`, `_`, `/` and `-`, at most 128')

export const LabelValueField = z
  .union([z.string().max(VALUE_CHARACTERS_MAX * 2), z.int(), z.boolean()])
  .describe('Text up to 256 characters, an integer or a boolean, as the Definition says')

/** The shape of a value schema; whether its members fit each other is `aggregate_invariant`. */
const ValueSchemaField = z
  .strictObject({
    type: z.enum(LABEL_TYPES),
    enum: z.array(LabelValueField).min(1).max(256).optional(),
    const: LabelValueField.optional(),
    pattern: z.string().max(512).optional().describe('RE2 syntax; matches anywhere unless it is anchored'),
    minLength: z.int().min(0).max(VALUE_CHARACTERS_MAX).optional(),
    maxLength: z.int().min(0).max(VALUE_CHARACTERS_MAX).optional(),
    minimum: z.int().optional(),
    maximum: z.int().optional(),
  })
  .meta({ id: 'LabelValueSchema' })

const OnDelete = z
  .enum(['block', 'cascade', 'orphan'])
  .describe(
    'What the deletion of the Definition does while it is assigned: refuse, delete the labels, or keep them unowned',
  )
const Kinds = z.array(z.enum(LABEL_KINDS)).max(LABEL_KINDS.length).describe('Kinds that it may be put on; empty: all')
const Description = z.string().max(1024)

export const LabelDefinitionRequest = z
  .strictObject({
    scope: LabelScope,
    local_key: LocalKey,
    description: Description.optional(),
    value_schema: ValueSchemaField,
    on_delete: OnDelete.optional(),
    immutable: z.boolean().optional().describe('A label cannot be changed or removed once it is set'),
    inherit: z.boolean().optional().describe('Objects of a Project or Domain inherit its label'),
    kinds: Kinds.optional(),
  })
  .meta({ id: 'LabelDefinitionRequest' })

export const LabelDefinitionUpdateRequest = z
  .strictObject({
    scope: z.unknown().optional().describe('Never changes: naming it is refused with immutable_violation'),
    local_key: z.unknown().optional().describe('Never changes: naming it is refused with immutable_violation'),
    description: Description.optional(),
    value_schema: ValueSchemaField.optional(),
    on_delete: OnDelete.optional(),
    immutable: z.boolean().optional().describe('May be set, and not taken back'),
    inherit: z.boolean().optional(),
    kinds: Kinds.optional(),
  })
  .meta({ id: 'LabelDefinitionUpdateRequest' })

export const LabelDefinition = z
  .object({
    id: Uuid,
    scope: z.string(),
    local_key: z.string(),
    qualified_key: z.string(),
    description: z.string(),
    value_schema: ValueSchemaField,
    on_delete: OnDelete,
    immutable: z.boolean(),
    inherit: z.boolean(),
    kinds: Kinds,
    system: z.boolean(),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'LabelDefinition' })

/** Grammar as for Definitions, with the scope in front. */
export const QualifiedKey = z
  .string()
  .regex(/^(platform|(domain|project):[0-9a-fA-F-]{36})\/[a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?$/)
  .describe('Scope and local key, such as platform/env')

export const LabelAssignmentRequest = z
  .strictObject({ qualified_key: QualifiedKey, value: LabelValueField })
  .meta({ id: 'LabelAssignmentRequest' })

export const LabelAssignment = z
  .object({
    kind: z.string(),
    object_id: Uuid,
    qualified_key: z.string(),
    definition_id: Uuid.nullable().describe('Null once the Definition was deleted and the label kept'),
    value: LabelValueField,
    assigned_by: z.string(),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'LabelAssignment' })

export const LabelAssignmentList = z.object({ items: z.array(LabelAssignment) }).meta({ id: 'LabelAssignmentList' })

/** `{offset, length}` count bytes of UTF-8; the end of the text is an offset too. */
export const SelectorErrorField = z
  .object({
    offset: z.int(),
    length: z.int(),
    code: z.enum(['unexpected_token', 'unterminated_string', 'unknown_key', 'wrong_type', 'too_long', 'empty']),
    message: z.string(),
    expected: z.array(z.string()),
  })
  .meta({ id: 'LabelSelectorError' })

/** `scope_id` names the Domain or Project of a scope; the platform has none. */
function scopeFault({ scope, scope_id: scopeId }: NamedMembers): RuleFault | undefined {
  const isPlatform = scope === undefined || scope === 'platform'
  if (isPlatform === (scopeId === undefined)) return undefined
  const detail = isPlatform ? 'goes with the scope domain or project' : 'is required with this scope'
  return { code: 'invalid_scope', members: ['scope_id'], detail }
}

const Kind = z.enum(LABEL_KINDS).meta({ problem: 'invalid_kind', description: 'Kind of the objects' })
const scopeMembers = {
  scope: z.enum(['platform', 'domain', 'project']).meta({ problem: 'invalid_scope' }),
  scope_id: uuidField('invalid_scope', 'The Domain or Project of the scope').optional(),
}

export const LabelSelectorPreviewRequest = withRule(
  z.strictObject({
    selector: z.string(),
    scope: scopeMembers.scope.optional(),
    scope_id: scopeMembers.scope_id,
    kind: Kind.optional(),
  }),
  scopeFault,
).meta({ id: 'LabelSelectorPreviewRequest' })

export const DomainSelectorPreviewRequest = z
  .strictObject({
    selector: z.string(),
    project_id: uuidField('invalid_project_id', 'A Project of the Domain').optional(),
    kind: Kind.optional(),
  })
  .meta({ id: 'DomainSelectorPreviewRequest' })

const PreviewedObject = z.object({
  kind: z.string(),
  id: Uuid,
  display_name: z.string(),
  domain_id: Uuid.nullable(),
  project_id: Uuid.nullable(),
})

export const LabelSelectorPreviewResponse = z
  .object({
    canonical: z.string().nullable().describe('Null where the selector has errors'),
    requirements: z.array(
      z.object({
        key: z.string(),
        op: z.enum(['exists', 'absent', 'in', 'notin', 'lt', 'gt']),
        values: z.array(LabelValueField),
        definition_id: Uuid,
      }),
    ),
    errors: z.array(SelectorErrorField),
    counts: z.record(z.string(), z.int()).describe('Matching objects by kind'),
    complete: z.boolean().describe('False where more than 10,000 objects match: counting ends there'),
    sample: z.array(PreviewedObject).describe('The first 20 of them'),
  })
  .meta({ id: 'LabelSelectorPreviewResponse' })

export const ObjectSearchRequest = withRule(
  z.strictObject({
    selector: z.string(),
    relation: z
      .string()
      .max(64)
      .regex(/^[a-z][a-z0-9-]*$/)
      .optional()
      .describe('Only objects that you hold this relation on, such as node-operate; default read'),
    ...scopeMembers,
    kind: Kind.optional(),
    cursor: Cursor,
    limit: z
      .int()
      .min(1)
      .max(200)
      .optional()
      .meta({ problem: 'invalid_limit', description: 'Page size, 1 to 200; 50 when absent' }),
  }),
  scopeFault,
).meta({ id: 'ObjectSearchRequest' })

export const ObjectSearchResultItem = PreviewedObject.extend({
  labels: z
    .record(z.string(), LabelValueField)
    .optional()
    .describe('The values of the keys that the selector names; all labels need maintainer'),
}).meta({ id: 'ObjectSearchResultItem' })

export const ObjectSearchResponse = z
  .object({ items: z.array(ObjectSearchResultItem), next_cursor: z.string().nullable().optional() })
  .meta({ id: 'ObjectSearchResponse' })
