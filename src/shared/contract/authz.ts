import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { CaveatContext, Explanation, ImpactRequest, ImpactResponse, Part } from './authz-schemas.ts'
import { check, defineSurface, open, OPERATOR } from './operation.ts'
import { CorrelationId, KiB } from './fields.ts'

const RebacCheckRequest = z
  .strictObject({
    subject: Part('Acting subject, <type>:<id>'),
    relation: Part('Relation or permission to evaluate'),
    resource: Part('Object that it is evaluated on, <type>:<id>'),
    caveat_context: CaveatContext.optional(),
  })
  .meta({ id: 'RebacCheckRequest', description: 'A question to the authorization model.' })

const decided = {
  decision: z.enum(['allowed', 'denied']).describe('Whether the subject holds the relation'),
  relation_path: z.array(z.string()).optional().describe('Relations traversed by a grant; empty for a direct binding'),
  reason: z
    .enum(['granted', 'out_of_scope', 'insufficient_relation', 'caveat_violation', 'unknown'])
    .optional()
    .describe('Why it was decided so'),
  correlation_id: CorrelationId,
}

const RebacCheckResponse = z
  .object(decided)
  .meta({ id: 'RebacCheckResponse', description: 'The answer to a question.' })

const RebacExplainResponse = z
  .object({
    ...decided,
    tree: Explanation.describe('The question with the parts of its answer'),
    remedies: z
      .array(
        z.array(
          z
            .object({
              subject: z.string().describe('Who would hold the role'),
              relation: z.string().describe('The role'),
              resource: z.string().describe('What it would be held on, `<type>:<id>`'),
            })
            .meta({ id: 'ProposedTuple', description: 'A tuple that does not exist.' }),
        ),
      )
      .describe('Sets of tuples, each of which would allow it, the smallest first; only what the caller may read'),
  })
  .meta({
    id: 'RebacExplainResponse',
    description: 'The answer to a question, with how it came about and what would change it.',
  })

const LookupResourcesRequest = z
  .strictObject({
    subject: Part('Acting subject, <type>:<id>'),
    relation: Part('Relation or permission that it must hold'),
    resource_type: Part('Type of the objects to find'),
    caveat_context: CaveatContext.optional(),
  })
  .meta({ id: 'LookupResourcesRequest', description: 'Which objects to find for a subject.' })

const LookupSubjectsRequest = z
  .strictObject({
    subject_type: Part('Type of the subjects to find'),
    relation: Part('Relation or permission that they must hold'),
    resource: Part('Object that they hold it on, <type>:<id>'),
    caveat_context: CaveatContext.optional(),
  })
  .meta({ id: 'LookupSubjectsRequest', description: 'Which subjects to find for an object.' })

const RebacLookupResponse = z
  .object({
    items: z.array(z.string()).describe('All that was found, each as <type>:<id>'),
    correlation_id: CorrelationId,
  })
  .meta({ id: 'RebacLookupResponse', description: 'All objects or subjects that were found.' })

const ReconcileResponse = z
  .object({
    checked: z.int().describe('Compared tuples'),
    granted: z.int().describe('Tuples that were missing in the engine and were added'),
    revoked: z.int().describe('Tuples that were only in the engine and were removed'),
    unresolved: z.int().describe('Differences that remain'),
  })
  .meta({
    id: 'ReconcileResponse',
    description: 'What the comparison of the authorization engine with the registry found and repaired.',
  })

const ANY_CALLER =
  'S0 Authorization surface: any caller may ask; across Domains nothing is revealed without platform read'

const question = {
  credentials: OPERATOR,
  access: 'read',
  idempotent: true,
  notProvisioned: 'authz_not_provisioned',
} as const

export const authz = defineSurface(
  'authz',
  {
    summary: 'Questions to the authorization model',
    nouns: { authz: { section: 'Access', position: 10, files: runtime('Questions, which store nothing') } },
  },
  {
    PostAuthzCheck: {
      ...question,
      method: 'POST',
      path: '/v1/authz/check',
      summary: 'Ask whether a subject holds a relation on an object',
      bridgesOutages: 'checks',
      description:
        'A denial is an answer, not an error: the status is 200 for both. While the engine is unavailable, a recent answer without caveats may be repeated, marked by the header X-Service-Degraded.',
      body: RebacCheckRequest,
      bodyBytesMax: 8 * KiB,
      gate: open(ANY_CALLER),
      audit: { relation: 'authz.check', when: 'all', object: '{body.resource}' },
      responses: { 200: RebacCheckResponse },
      problems: ['invalid_triple', 'authz_unavailable'],
      cli: {
        command: 'authz check',
        args: ['subject', 'relation', 'resource'],
        refs: { subject: 'subjects', resource: 'objects' },
      },
    },
    PostAuthzLookupResources: {
      ...question,
      method: 'POST',
      path: '/v1/authz/lookup-resources',
      summary: 'Find every object of a type on which a subject holds a relation',
      description:
        'There is no cursor: the whole set is answered, oldest objects first. What holds only under conditions that were not named is left out, and so are objects of other Domains for callers without read on the platform.',
      rendered: true,
      body: LookupResourcesRequest,
      bodyBytesMax: 8 * KiB,
      gate: open(ANY_CALLER),
      audit: { relation: 'authz.lookup_resources', when: 'all', object: '{body.subject}' },
      responses: { 200: RebacLookupResponse },
      problems: ['invalid_triple', 'authz_unavailable'],
      cli: {
        command: 'authz lookup-resources',
        args: ['subject', 'relation', 'resource_type'],
        refs: { subject: 'subjects' },
      },
    },
    PostAuthzLookupSubjects: {
      ...question,
      method: 'POST',
      path: '/v1/authz/lookup-subjects',
      summary: 'Find every subject of a type that holds a relation on an object',
      description:
        'There is no cursor: the whole set is answered, oldest subjects first; <type>:* represents everyone of the type. What holds only under conditions that were not named is left out, and so are subjects of other Domains for callers without read on the platform.',
      rendered: true,
      body: LookupSubjectsRequest,
      bodyBytesMax: 8 * KiB,
      gate: open(ANY_CALLER),
      audit: { relation: 'authz.lookup_subjects', when: 'all', object: '{body.resource}' },
      responses: { 200: RebacLookupResponse },
      problems: ['invalid_triple', 'authz_unavailable'],
      cli: {
        command: 'authz lookup-subjects',
        args: ['subject_type', 'relation', 'resource'],
        refs: { resource: 'objects' },
      },
    },
    PostAuthzExplain: {
      ...question,
      method: 'POST',
      path: '/v1/authz/explain',
      summary: 'Show why a check comes out as it does, and what would allow it',
      description:
        'The tree shows how the answer was decided. Objects that the caller may not read are hidden, with everything below them.',
      body: RebacCheckRequest,
      bodyBytesMax: 8 * KiB,
      gate: open(ANY_CALLER),
      audit: { relation: 'authz.explain', when: 'all', object: '{body.resource}' },
      responses: { 200: RebacExplainResponse },
      problems: ['invalid_triple', 'authz_unavailable'],
      cli: {
        command: 'authz explain',
        args: ['subject', 'relation', 'resource'],
        refs: { subject: 'subjects', resource: 'objects' },
      },
    },
    PostAuthzImpact: {
      ...question,
      method: 'POST',
      path: '/v1/authz/impact',
      summary: 'Preview changes of tuples, grants and memberships: show who would gain or lose which permission',
      description:
        'Nothing is changed. Each edit must be one that the caller could make. Rows that the caller may not read are left out and counted.',
      body: ImpactRequest,
      bodyBytesMax: 128 * KiB,
      gate: open('each edit is gated as the write that it tries, in the order of the edits'),
      audit: { relation: 'authz.impact', when: 'all' },
      responses: { 200: ImpactResponse },
      problems: [
        'permission_denied',
        'invalid_triple',
        'resource_not_in_project',
        'project_not_found',
        'group_not_found',
        'group_managed_by_provider',
        'tuple_already_exists',
        'tuple_not_found',
        'group_member_not_found',
        'authz_unavailable',
      ],
      cli: { command: 'authz impact' },
    },
    PostAuthzReconcile: {
      method: 'POST',
      path: '/v1/authz/reconcile',
      summary: 'Compare the authorization engine with the registry, and repair the differences',
      description:
        'The registry is what the API shows. Tuples that the engine lacks are added, and those that only the engine has are removed.',
      credentials: OPERATOR,
      idempotent: true,
      gate: check('manage', 'platform:main'),
      audit: { relation: 'authz.reconcile', when: 'all' },
      responses: { 200: ReconcileResponse },
      problems: [],
      notProvisioned: 'authz_not_provisioned',
      cli: { command: 'authz reconcile', columns: ['checked', 'granted', 'revoked', 'unresolved'] },
    },
  },
)
