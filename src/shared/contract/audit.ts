import { z } from 'zod'
import { defineSurface, OPERATOR } from './operation.ts'
import { Instant, pageOf, pageQuery, Uuid, uuidField } from './fields.ts'

const Outcome = z.enum(['granted', 'permission_denied', 'invariant_violation', 'not_found', 'internal_error'])

const AuditRecord = z
  .object({
    id: Uuid,
    at: Instant,
    domain_id: Uuid.nullable(),
    subject: z.string(),
    relation: z.string(),
    object: z.string(),
    outcome: Outcome,
    reason: z.string(),
    correlation_id: z.string(),
    context: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AuditRecord' })

const filter = (describe: string) => z.string().min(1).max(512).optional().describe(describe)
const instant = (describe: string) =>
  z.iso.datetime({ offset: true }).optional().meta({ problem: 'invalid_audit_filter', description: describe })

export const audit = defineSurface('audit', 'Decisions that were taken', {
  GetAudit: {
    method: 'GET',
    path: '/v1/audit',
    summary: 'List audited decisions, newest first',
    credentials: OPERATOR,
    query: z
      .strictObject({
        domain_id: uuidField('invalid_domain_id', 'Decisions of this Domain').optional(),
        scope: z
          .enum(['platform'])
          .optional()
          .meta({ problem: 'invalid_audit_filter', description: "The platform's own decisions" }),
        subject: filter('Who acted'),
        relation: filter('What was asked for, e.g. auth.api_token.issue'),
        object: filter('What it was asked on'),
        outcome: Outcome.optional().meta({ problem: 'invalid_audit_filter', description: 'How it ended' }),
        correlation_id: filter('One request'),
        since: instant('From this instant on'),
        until: instant('Before this instant'),
        ...pageQuery,
      })
      .refine((query) => (query.domain_id === undefined) !== (query.scope === undefined), {
        error: 'name a domain_id, or scope=platform',
      })
      .meta({ problem: 'invalid_audit_filter' }),
    gate: {
      anyOf: [
        { relation: 'auditor', object: 'domain:{query.domain_id}' },
        { relation: 'auditor', object: 'platform:main' },
      ],
    },
    audit: { relation: 'audit.list', when: 'all' },
    paging: { limit: 'rejected', cursor: 'caller' },
    responses: { 200: pageOf(AuditRecord).meta({ id: 'AuditRecordList' }) },
    problems: ['invalid_domain_id', 'invalid_audit_filter'],
    notProvisioned: 'not_provisioned',
    cli: {
      command: 'audit list',
      refs: { domain_id: 'domains' },
      ownDomain: { member: 'domain_id', unless: ['scope'] },
      columns: ['at', 'subject', 'relation', 'object', 'outcome', 'reason', 'correlation_id'],
      wide: ['id', 'context'],
    },
  },
})
