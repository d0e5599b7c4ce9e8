import { z } from 'zod'
import { isNonZeroUuid } from '../ids.ts'
import { LABEL_KINDS } from '../labels/label-kinds.ts'
import { LABEL_TYPES } from '../labels/schema-types.ts'
import { VALUE_CHARACTERS_MAX } from '../selectors/syntax.ts'
import { withRule, type NamedMembers, type RuleFault } from './body-rules.ts'
import { CreatedAt, Cursor, InDomain, InProject, OwnId, ShownName, UpdatedAt, Uuid, uuidField } from './fields.ts'

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
    type: z.enum(LABEL_TYPES).describe('Type of the values'),
    enum: z.array(LabelValueField).min(1).max(256).optional().describe('Allowed values, 1 to 256'),
    const: LabelValueField.optional(),
    pattern: z.string().max(512).optional().describe('RE2 syntax; matches anywhere unless it is anchored'),
    minLength: z.int().min(0).max(VALUE_CHARACTERS_MAX).optional().describe('Minimum length of a text, in characters'),
    maxLength: z.int().min(0).max(VALUE_CHARACTERS_MAX).optional().describe('Maximum length of a text, in characters'),
    minimum: z.int().optional().describe('Smallest allowed integer'),
    maximum: z.int().optional().describe('Largest allowed integer'),
  })
  .meta({ id: 'LabelValueSchema', description: 'The values that a label may have.' })

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
    description: Description.optional().describe('What the label means, at most 1,024 characters'),
    value_schema: ValueSchemaField,
    on_delete: OnDelete.optional(),
    immutable: z.boolean().optional().describe('A label cannot be changed or removed once it is set'),
    inherit: z.boolean().optional().describe('Objects of a Project or Domain inherit its label'),
    kinds: Kinds.optional(),
  })
  .meta({ id: 'LabelDefinitionRequest', description: 'A new label Definition.' })

export const LabelDefinitionUpdateRequest = z
  .strictObject({
    scope: z.unknown().optional().describe('Never changes: naming it is refused with immutable_violation'),
    local_key: z.unknown().optional().describe('Never changes: naming it is refused with immutable_violation'),
    description: Description.optional().describe('What the label means, at most 1,024 characters'),
    value_schema: ValueSchemaField.optional(),
    on_delete: OnDelete.optional(),
    immutable: z.boolean().optional().describe('May be set, and not taken back'),
    inherit: z.boolean().optional().describe('Whether objects of a Project or Domain inherit its label'),
    kinds: Kinds.optional(),
  })
  .meta({ id: 'LabelDefinitionUpdateRequest', description: 'Members of a label Definition to change.' })

export const LabelDefinition = z
  .object({
    id: OwnId,
    scope: z.string().describe('Where it is defined: the platform, a Domain or a Project'),
    local_key: z.string().describe('Key within the scope'),
    qualified_key: z.string().describe('Scope and key, as labels name it'),
    description: z.string().describe('What the label means; may be empty'),
    value_schema: ValueSchemaField,
    on_delete: OnDelete,
    immutable: z.boolean().describe('Whether a label cannot be changed or removed once it is set'),
    inherit: z.boolean().describe('Whether objects of a Project or Domain inherit its label'),
    kinds: Kinds,
    system: z.boolean().describe('Whether the server itself defines and assigns it'),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'LabelDefinition', description: 'The meaning of a label and the values that it may have.' })

/** Grammar as for Definitions, with the scope in front. */
export const QualifiedKey = z
  .string()
  .regex(/^(platform|(domain|project):[0-9a-fA-F-]{36})\/[a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?$/)
  .describe('Scope and local key, such as platform/env')

export const LabelAssignmentRequest = z
  .strictObject({ qualified_key: QualifiedKey, value: LabelValueField })
  .meta({ id: 'LabelAssignmentRequest', description: 'A label for one object.' })

export const LabelAssignment = z
  .object({
    kind: z.string().describe('Kind of the object'),
    object_id: Uuid.describe('The object'),
    qualified_key: z.string().describe('Scope and key of the Definition'),
    definition_id: Uuid.nullable().describe('Null once the Definition was deleted and the label kept'),
    value: LabelValueField,
    assigned_by: z.string().describe('Subject that set it'),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'LabelAssignment', description: 'A label of one object.' })

export const LabelAssignmentList = z
  .object({ items: z.array(LabelAssignment).describe('Labels of the object') })
  .meta({ id: 'LabelAssignmentList', description: 'The labels of one object.' })

/** `{offset, length}` count bytes of UTF-8; the end of the text is an offset too. */
export const SelectorErrorField = z
  .object({
    offset: z.int().describe('Where the fault begins, in bytes of UTF-8'),
    length: z.int().describe('How long it is, in bytes of UTF-8'),
    code: z
      .enum(['unexpected_token', 'unterminated_string', 'unknown_key', 'wrong_type', 'too_long', 'empty'])
      .describe('What is wrong'),
    message: z.string().describe('What is wrong, in one sentence'),
    expected: z.array(z.string()).describe('What could be there instead'),
  })
  .meta({ id: 'LabelSelectorError', description: 'A fault of a selector, with its place in the text.' })

/** `scope_id` names the Domain or Project of a scope; the platform has none. */
function scopeFault({ scope, scope_id: scopeId }: NamedMembers): RuleFault | undefined {
  const isPlatform = scope === undefined || scope === 'platform'
  if (isPlatform === (scopeId === undefined)) return undefined
  const detail = isPlatform ? 'goes with the scope domain or project' : 'is required with this scope'
  return { code: 'invalid_scope', members: ['scope_id'], detail }
}

const Kind = z.enum(LABEL_KINDS).meta({ problem: 'invalid_kind', description: 'Kind of the objects' })
const scopeMembers = {
  scope: z
    .enum(['platform', 'domain', 'project'])
    .meta({ problem: 'invalid_scope' })
    .describe('Where keys are looked up; `platform` by default'),
  scope_id: uuidField('invalid_scope', 'The Domain or Project of the scope').optional(),
}

export const LabelSelectorPreviewRequest = withRule(
  z.strictObject({
    selector: z.string().describe('Selector, such as `env=prod,tier in (web,api)`; `*` for all'),
    scope: scopeMembers.scope.optional(),
    scope_id: scopeMembers.scope_id,
    kind: Kind.optional(),
  }),
  scopeFault,
).meta({ id: 'LabelSelectorPreviewRequest', description: 'A selector to try.' })

export const DomainSelectorPreviewRequest = z
  .strictObject({
    selector: z.string().describe('Selector, such as `env=prod,tier in (web,api)`; `*` for all'),
    project_id: uuidField('invalid_project_id', 'A Project of the Domain').optional(),
    kind: Kind.optional(),
  })
  .meta({ id: 'DomainSelectorPreviewRequest', description: 'A selector to try on the objects of a Domain.' })

const PreviewedObject = z.object({
  kind: z.string().describe('Kind of the object'),
  id: OwnId,
  display_name: ShownName,
  domain_id: InDomain.nullable().describe('Domain of the object; null for an object of the platform'),
  project_id: InProject.nullable().describe('Project of the object; null where it is in none'),
})

export const LabelSelectorPreviewResponse = z
  .object({
    canonical: z.string().nullable().describe('Null where the selector has errors'),
    requirements: z
      .array(
        z.object({
          key: z.string().describe('Key as the selector writes it'),
          op: z.enum(['exists', 'absent', 'in', 'notin', 'lt', 'gt']).describe('How values are compared'),
          values: z.array(LabelValueField).describe('Values that it is compared with'),
          definition_id: Uuid.describe('The Definition that the key means'),
        }),
      )
      .describe('What an object must meet, all of it'),
    errors: z.array(SelectorErrorField).describe('Faults of the selector; empty where it is valid'),
    counts: z.record(z.string(), z.int()).describe('Matching objects by kind'),
    complete: z.boolean().describe('False where more than 10,000 objects match: counting ends there'),
    sample: z.array(PreviewedObject).describe('The first 20 of them'),
  })
  .meta({ id: 'LabelSelectorPreviewResponse', description: 'What a selector means and how many objects it matches.' })

export const ObjectSearchRequest = withRule(
  z.strictObject({
    selector: z.string().describe('Selector, such as `env=prod,tier in (web,api)`; `*` for all'),
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
).meta({ id: 'ObjectSearchRequest', description: 'Which objects to find.' })

export const ObjectSearchResultItem = PreviewedObject.extend({
  labels: z
    .record(z.string(), LabelValueField)
    .optional()
    .describe('The values of the keys that the selector names; all labels need maintainer'),
}).meta({ id: 'ObjectSearchResultItem', description: 'An object that a selector matches.' })

export const ObjectSearchResponse = z
  .object({
    items: z.array(ObjectSearchResultItem).describe('The objects of this page'),
    next_cursor: z
      .string()
      .nullable()
      .optional()
      .describe('`cursor` of the next page; null or absent at the end of the list'),
  })
  .meta({ id: 'ObjectSearchResponse', description: 'A page of objects that a selector matches.' })
