import { z } from 'zod'
import { CorrelationId, CreatedAt, pageOf, Reference, Uuid, uuidField } from './fields.ts'

/** A part of a triple as callers write it; invalid ones are refused with `invalid_triple`. */
export const Part = (describe: string): z.ZodType<string, string> =>
  Reference.meta({ problem: 'invalid_triple', description: describe })

/** Names of facts that caveats may use. Values are dropped unread: they come from the server (decisions: Caveats). */
export const CaveatContext = z
  .record(z.string().max(128), z.unknown())
  .describe('Names of the facts that caveats may use; values are ignored')

/** What a tuple stores: the caveat under `caveat_name`, and beside it names alone. */
const TupleCaveat = z
  .record(z.string().min(1).max(128), z.unknown())
  .meta({ problem: 'invalid_triple' })
  .describe('caveat_name names the caveat to attach; of every other member only the name is stored')

const triple = {
  subject: Part('user:<uuid>, serviceaccount:<uuid>, group:<uuid>#member, or <type>:* for everyone of the type'),
  relation: Part('Role on the resource'),
  resource: Part('The Project, or an object in it: <type>:<id>'),
}

export const RelationTuple = z
  .object({
    id: Uuid.describe('Derived from subject, relation, resource and caveat: one binding has one id'),
    subject: z.string().describe('Who holds the role'),
    relation: z.string().describe('The role'),
    resource: z.string().describe('What the role is held on, `<type>:<id>`'),
    caveat_context: z
      .record(z.string(), z.string().nullable())
      .optional()
      .describe('caveat_name with the name of the caveat, and the names of the fields, each null'),
    created_at: CreatedAt,
  })
  .meta({ id: 'RelationTuple', description: 'A role of one subject on one object of a Project.' })

export const RelationTupleList = pageOf(RelationTuple).meta({
  id: 'RelationTupleList',
  description: 'A page of tuples.',
})

const binding = { ...triple, caveat_context: TupleCaveat.optional() }

export const RelationTupleCreateRequest = z
  .strictObject(binding)
  .meta({ id: 'RelationTupleCreateRequest', description: 'A new tuple.' })

export const RelationTuplePatchRequest = z
  .strictObject(binding)
  .meta({ id: 'RelationTuplePatchRequest', description: 'The tuple that replaces the stored one.' })

/** Maximum of tuples in one bulk create. */
export const BULK_TUPLES_MAX = 1000

export const RelationTupleBulkRequest = z
  .strictObject({
    tuples: z
      .array(
        z.strictObject({
          project_id: uuidField('invalid_project_id', 'Project of the resource'),
          ...binding,
        }),
      )
      .min(1)
      .max(BULK_TUPLES_MAX)
      .describe('The tuples to create, at most 1000; all of them or none'),
  })
  .meta({ id: 'RelationTupleBulkRequest', description: 'Tuples to create together.' })

export const RelationTupleBulkResponse = z
  .object({ items: z.array(RelationTuple).describe('The tuples in the order of the request') })
  .meta({ id: 'RelationTupleBulkResponse', description: 'The created tuples.' })

const toCreate = z.literal('create')
const toDelete = z.literal('delete')
const tupleId = uuidField('invalid_tuple_id', 'Tuple that would be deleted')
const roleObject = Part('domain:<uuid>, platform:main, or node:<uuid> of a node that is in no Project')
const membership = { group: Part('group:<uuid>'), subject: triple.subject }

const TupleEdit = z.discriminatedUnion('op', [
  z.strictObject({
    kind: z.literal('tuple').describe('A tuple of a Project'),
    op: toCreate.describe('What is tried: to create'),
    project_id: uuidField('invalid_project_id', 'Project of the resource'),
    ...binding,
  }),
  z.strictObject({
    kind: z.literal('tuple').describe('A tuple of a Project'),
    op: toDelete.describe('What is tried: to delete'),
    tuple_id: tupleId,
  }),
])

const GrantEdit = z.discriminatedUnion('op', [
  z.strictObject({
    kind: z.literal('grant').describe('A role on a Domain, a node or the platform'),
    op: toCreate.describe('What is tried: to create'),
    subject: triple.subject,
    relation: triple.relation,
    resource: roleObject,
  }),
  z.strictObject({
    kind: z.literal('grant').describe('A role on a Domain, a node or the platform'),
    op: toDelete.describe('What is tried: to delete'),
    resource: roleObject,
    tuple_id: tupleId,
  }),
])

const MembershipEdit = z.discriminatedUnion('op', [
  z.strictObject({
    kind: z.literal('membership').describe('The membership in a group'),
    op: toCreate.describe('What is tried: to create'),
    ...membership,
  }),
  z.strictObject({
    kind: z.literal('membership').describe('The membership in a group'),
    op: toDelete.describe('What is tried: to delete'),
    ...membership,
  }),
])

/** Maximum of changes in one preview, and of effects in an answer. */
export const IMPACT_EDITS_MAX = 100
export const IMPACT_CHANGES_MAX = 1000

export const ImpactRequest = z
  .strictObject({
    edits: z
      .array(z.discriminatedUnion('kind', [TupleEdit, GrantEdit, MembershipEdit]))
      .min(1)
      .max(IMPACT_EDITS_MAX)
      .describe('Changes to try together, in order: of tuples, of grants, of memberships'),
    changes_max: z
      .int()
      .min(1)
      .max(IMPACT_CHANGES_MAX)
      .optional()
      .describe('Maximum of listed changes; 200 when absent'),
  })
  .meta({ id: 'ImpactRequest', description: 'Changes of tuples, grants and memberships to try together.' })

export const ImpactResponse = z
  .object({
    changes: z
      .array(
        z
          .object({
            subject: z.string().describe('Who gains or loses it'),
            permission: z.string().describe('The permission'),
            resource: z.string().describe('What the permission is on, `<type>:<id>`'),
            change: z.enum(['gains', 'loses']).describe('Whether the subject gains or loses it'),
          })
          .meta({ id: 'PermissionChange', description: 'A permission that one subject would gain or lose.' }),
      )
      .describe('The permissions that subjects would gain or lose, by resource, permission and subject'),
    count: z.int().describe('Number of all changes, listed or not'),
    hidden_count: z.int().describe('Number of changes that are left out because the caller may not read them'),
    complete: z.boolean().describe('Whether all affected permissions were evaluated'),
    correlation_id: CorrelationId,
  })
  .meta({ id: 'ImpactResponse', description: 'The permissions that the tried changes would give and take.' })

const Outcome = z.enum(['granted', 'denied', 'conditional'])

/**
 * One question within a check, with the parts of its answer. A part that names something the caller may not read is
 * `hidden` and has no other member.
 */
const ExplanationShape = z.object({
  kind: z
    .enum([
      'permission',
      'relation',
      'union',
      'intersection',
      'exclusion',
      'arrow',
      'all',
      'self',
      'nil',
      'tuple',
      'hidden',
    ])
    .describe('The kind of the evaluated part; hidden where the caller may not read it'),
  outcome: Outcome.optional().describe('How this part was decided; `conditional` where facts are missing'),
  object: z.string().optional().describe('What the part is about, `<type>:<id>`'),
  name: z.string().optional().describe('Relation or permission; absent for operators'),
  subject: z.string().optional().describe('Subject of a tuple'),
  condition: z
    .object({
      caveat: z.string().describe('Empty for a tuple that only expires'),
      outcome: Outcome.describe('How the condition was decided'),
      missing: z.array(z.string()).describe('Facts that are missing to evaluate the caveat'),
      is_expired: z.boolean().describe('Whether the tuple has expired'),
    })
    .optional()
    .describe('The condition of a tuple'),
  omitted: z.enum(['repeated', 'cycle', 'too_large']).optional().describe('Why the parts are left out'),
})

type ExplanationAnswer = z.output<typeof ExplanationShape> & { parts: ExplanationAnswer[] }

export const Explanation: z.ZodType<ExplanationAnswer> = ExplanationShape.extend({
  get parts(): z.ZodArray<z.ZodType<ExplanationAnswer>> {
    return z.array(Explanation).describe('In the order of evaluation')
  },
}).meta({ id: 'Explanation', description: 'A question within a check, with the parts of its answer.' })
