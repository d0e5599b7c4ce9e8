import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { defineSurface, OPERATOR } from './operation.ts'
import { CorrelationId, InDomain, Instant, OwnId, pageOf, pageQuery, Reference, Uuid, uuidField } from './fields.ts'

const Outcome = z.enum([
  'granted',
  'permission_denied',
  'invariant_violation',
  'identity_conflict',
  'not_found',
  'internal_error',
])

/** A row without the names that readers get beside it. */
const Decision = z.object({
  id: OwnId,
  at: Instant.describe('When the decision was taken'),
  domain_id: InDomain.nullable().describe('Domain of the decision; null for a decision about the platform'),
  subject: z.string().describe('Who asked, such as `user:<uuid>`'),
  relation: z.string().describe('What was asked for, such as `domain.create`'),
  object: z.string().describe('What it was about, `<type>:<id>`'),
  outcome: Outcome.describe('How it was decided'),
  reason: z.string().describe('Why it was decided so: `granted`, or a problem code'),
  correlation_id: CorrelationId,
  context: z.record(z.string(), z.unknown()).describe('Further facts of the decision; never a secret'),
})

const name = (whose: string) =>
  z
    .string()
    .nullable()
    .describe(`Name of the ${whose} as it is now; null where it has none, is gone, or is not yours to read`)

const AuditRecord = Decision.extend({ subject_name: name('subject'), object_name: name('object') }).meta({
  id: 'AuditRecord',
  description:
    'A decision of the server about one request. The names are those of now: no chain and no export has them.',
})

/** A number of rows or a position in a chain: digits only, since coercion would take `0x10` and `1e2`. */
const whole = (describe: string, from: number, to = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .refine((number) => number >= from && number <= to)
    .optional()
    .meta({ problem: 'invalid_audit_filter', description: describe })

const Seq = z.int().min(0)
const Hash = z.string().meta({ description: 'SHA-256 in hex', examples: ['9f86d081884c7d65…'] })
const Place = { seq: Seq.describe('Position in the chain'), hash: Hash }
const signature = {
  at: Instant.describe('When the position was signed'),
  kid: z.string().describe('The key that signed, as `GET /v1/signing-keys` lists it'),
  signature: z.string().meta({ description: 'Ed25519, 64 bytes in base64url' }),
}
const SignedPosition = z
  .object({ ...Place, ...signature })
  .meta({ id: 'AuditSignedPlace', description: 'A position of a chain that the server signed.' })

/** Where verification of a chain begins; `signed` where the server signed that position. */
const Start = z
  .object({
    ...Place,
    signed: z
      .object({
        kind: z
          .enum(['head', 'checkpoint'])
          .describe('Whether it is the head of the chain at that time, or a checkpoint of the retention'),
        ...signature,
      })
      .nullable()
      .meta({
        description: 'The signature over this position; null at the first row of the chain, and between signed heads',
      }),
  })
  .meta({ id: 'AuditStart', description: 'The position of a chain at which a verification or an export begins.' })

const Chain = z.string().meta({ description: 'platform:main, or domain:<id>' })

const AuditVerification = z
  .object({
    chain: Chain,
    verdict: z.enum(['intact', 'broken']).describe('Whether the verified rows are as they were written'),
    start: Start,
    rows: z.int().meta({ description: 'Rows whose hashes were recomputed by this call' }),
    verified_through: Seq.meta({ description: 'The last of them; the start of the verification, if there were none' }),
    verified_hash: Hash,
    signed_through: Seq.nullable().meta({ description: 'The last signed head among them that verifies' }),
    heads_verified: z.int().describe('Signed heads whose signature verifies'),
    heads_unknown: z.int().meta({ description: 'Heads signed by keys that are no longer published' }),
    sealed_through: Seq.meta({ description: 'The last row of the chain' }),
    unsealed: z.int().meta({ description: 'Rows that are not sealed into the chain yet' }),
    first_bad: z
      .object({
        seq: Seq.describe('Its position in the chain'),
        id: Uuid.nullable().describe('Its id; null where the row is missing'),
        reason: z
          .enum([
            'row_missing',
            'out_of_order',
            'foreign_row',
            'row_altered',
            'head_mismatch',
            'rows_cut_off',
            'unknown_key',
            'key_not_valid',
            'bad_signature',
          ])
          .describe('What is wrong with it'),
      })
      .nullable()
      .describe('The first row that is not as it was written; null where the chain is intact'),
    next_seq: Seq.nullable().meta({
      description: 'from_seq of the next call; null when this one reached the end',
    }),
  })
  .meta({ id: 'AuditVerification', description: 'The result of verifying a part of a chain.' })

const AuditExport = z
  .object({
    chain: Chain,
    start: Start,
    items: z
      .array(
        Decision.extend({ ...Place }).meta({
          id: 'SealedAuditRecord',
          description: 'An audited decision with its place in the chain.',
        }),
      )
      .describe('Rows of the chain, in its order'),
    heads: z.array(SignedPosition).meta({ description: 'Signed heads of these rows, in the order of the chain' }),
    through_seq: Seq.meta({ description: 'The signed head that the export ends with' }),
    next_seq: Seq.nullable().meta({ description: 'from_seq of the next page; null after the last one' }),
  })
  .meta({ id: 'AuditExport', description: 'A page of the rows of a chain, with what proves them.' })

const filter = (describe: string) => z.string().min(1).max(512).optional().describe(describe)
const reference = (describe: string) => Reference.optional().describe(describe)
const instant = (describe: string) =>
  z.iso.datetime({ offset: true }).optional().meta({ problem: 'invalid_audit_filter', description: describe })

/** Which chain: a Domain's, or the platform's. */
const chainQuery = {
  domain_id: uuidField('invalid_domain_id', 'Decisions of this Domain').optional(),
  scope: z
    .enum(['platform'])
    .optional()
    .meta({ problem: 'invalid_audit_filter', description: "The platform's own decisions" }),
}

/** Of a Domain or of the platform, never of both or neither. */
function ofOneChain<S extends z.ZodObject>(schema: S): S {
  return schema
    .refine((query) => (query['domain_id'] === undefined) !== (query['scope'] === undefined), {
      error: 'name a domain_id, or scope=platform',
    })
    .meta({ problem: 'invalid_audit_filter' })
}

const AUDITOR = {
  anyOf: [
    { relation: 'auditor', object: 'domain:{query.domain_id}' },
    { relation: 'auditor', object: 'platform:main' },
  ],
} as const

/** How the command line finds the chain. */
const ownChain = {
  refs: { domain_id: 'domains' },
  ownDomain: { member: 'domain_id', unless: ['scope'] },
} as const

export const audit = defineSurface(
  'audit',
  {
    summary: 'Decisions that were taken',
    nouns: { audit: { section: 'Access', position: 13, files: runtime('A record of what happened') } },
  },
  {
    GetAudit: {
      method: 'GET',
      path: '/v1/audit',
      summary: 'List audited decisions, newest first',
      description: 'Of one Domain, or of the platform with `scope=platform`. The filters are combined.',
      credentials: OPERATOR,
      query: ofOneChain(
        z.strictObject({
          ...chainQuery,
          subject: reference('Who acted'),
          relation: filter('What was asked for, e.g. auth.api_token.issue'),
          relation_prefix: filter('What was asked for begins so, e.g. node.'),
          object: reference('What it was asked on'),
          actor: z.enum(['user', 'service', 'node', 'system']).optional().meta({
            problem: 'invalid_audit_filter',
            description: 'The kind of the acting subject; `system` is the server itself',
          }),
          only: z.enum(['writes']).optional().meta({
            problem: 'invalid_audit_filter',
            description: 'Only rows of operations that change something, whatever their outcome',
          }),
          outcome: Outcome.optional().meta({
            problem: 'invalid_audit_filter',
            description: 'The outcome of the decision',
          }),
          correlation_id: filter('One request'),
          since: instant('From this instant on'),
          until: instant('Before this instant'),
          ...pageQuery,
        }),
      ),
      gate: { ...AUDITOR, probes: { platform: { relation: 'read', object: 'platform:main' } } },
      audit: { relation: 'audit.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'caller' },
      responses: {
        200: pageOf(AuditRecord).meta({ id: 'AuditRecordList', description: 'A page of audited decisions.' }),
      },
      problems: ['invalid_domain_id', 'invalid_audit_filter'],
      notProvisioned: 'not_provisioned',
      cli: {
        command: 'audit list',
        ...ownChain,
        refs: { ...ownChain.refs, subject: 'subjects', object: 'objects' },
        columns: ['at', 'subject', 'relation', 'object', 'outcome', 'reason'],
        wide: ['correlation_id', 'id', 'context'],
      },
    },
    GetAuditVerify: {
      method: 'GET',
      path: '/v1/audit/verify',
      summary: 'Verify the chain of audited decisions',
      description:
        'Recomputes the hashes of sealed rows and checks the signed heads among them. One call verifies some thousands of rows; next_seq is the start of the next call.',
      credentials: OPERATOR,
      query: ofOneChain(
        z.strictObject({ ...chainQuery, from_seq: whole('Go on with this row; the oldest one when absent', 1) }),
      ),
      gate: AUDITOR,
      audit: { relation: 'audit.verify', when: 'all' },
      responses: { 200: AuditVerification },
      problems: ['invalid_domain_id', 'invalid_audit_filter', 'signing_unavailable'],
      notProvisioned: 'not_provisioned',
      cli: { command: 'audit verify', ...ownChain },
    },
    GetAuditExport: {
      method: 'GET',
      path: '/v1/audit/export',
      summary: 'Export sealed decisions with their hashes and signed heads',
      description:
        'Rows in the order of the chain, from the newest signed head that is not younger than since to the first that is not older than until, so that a signature covers every row.',
      credentials: OPERATOR,
      query: ofOneChain(
        z.strictObject({
          ...chainQuery,
          since: instant('Rows sealed from about this instant on'),
          until: instant('Rows sealed until about this instant'),
          from_seq: whole('Go on with this row', 1),
          through_seq: whole('End with this row: through_seq of the page before', 0),
          rows: whole('Rows of a page, 1 to 1000; 500 when absent', 1, 1000),
        }),
      ),
      gate: AUDITOR,
      audit: { relation: 'audit.export', when: 'all' },
      responses: { 200: AuditExport },
      problems: ['invalid_domain_id', 'invalid_audit_filter'],
      notProvisioned: 'not_provisioned',
      cli: { command: 'audit export', ...ownChain },
    },
  },
)
