import { runtime } from './noun-words.ts'
import { z } from 'zod'
import {
  clampedPageQuery,
  InDomain,
  InProject,
  Instant,
  KiB,
  OfNode,
  OwnId,
  pageOf,
  Uuid,
  uuidField,
} from './fields.ts'
import { check, defineSurface, OPERATOR } from './operation.ts'

const ViolationKind = z.enum(['binary', 'hook', 'host_key'])
const ViolationStatus = z.enum(['open', 'acknowledged', 'resolved'])

const IntegrityViolationRow = z
  .object({
    id: OwnId,
    node_id: OfNode,
    node_name: z.string().nullable().optional().describe('Name of the node now; null once it left'),
    domain_id: InDomain,
    project_id: InProject.nullable().optional().describe('Project of the node when it reported the violation first'),
    kind: ViolationKind.describe('What the violated checksum belongs to'),
    status: ViolationStatus.describe('`open` waits for somebody; `resolved` is final'),
    artifact_id: Uuid.describe('The same for one artifact on all nodes of the Domain'),
    artifact: z.string().optional().describe('The checked object: a path, or a hook’s name'),
    expected_checksum: z.string().nullable().optional().describe('SHA-256 as 64 hex digits'),
    observed_checksum: z.string().nullable().optional().describe('SHA-256 as 64 hex digits'),
    detected_at: Instant.describe('When the node saw it first, by its clock'),
    reported_at: Instant.optional().describe('When the first report was accepted'),
    last_detected_at: Instant.optional().describe('When the node saw it last, by its clock'),
    occurrences: z.int().optional().describe('Reports of it since it was opened'),
    acknowledged_at: Instant.nullable().optional().describe('When it was acknowledged; null before'),
    acknowledged_by_subject: z.string().nullable().optional().describe('Subject that acknowledged it; null before'),
    acknowledge_reason: z
      .string()
      .nullable()
      .optional()
      .describe('What was found and done; null before it was acknowledged'),
    resolved_at: Instant.nullable().optional().describe('When it was resolved; null before'),
  })
  .meta({ id: 'IntegrityViolationRow', description: 'An artifact on a node whose checksum is not the expected one.' })

const IntegrityViolationAcknowledgeRequest = z
  .strictObject({
    reason: z
      .string()
      .max(1024)
      .refine((text) => text.trim().length > 0, { error: 'must not be blank' })
      .meta({ problem: 'invalid_acknowledge_reason', description: 'What was found and done; 1 to 1,024 characters' }),
  })
  .meta({ id: 'IntegrityViolationAcknowledgeRequest', description: 'What was found out about a violation.' })

const filters = {
  project_id: uuidField('invalid_project_id', 'One Project only').optional(),
  node_id: uuidField('invalid_node_id', 'One node only').optional(),
  artifact_id: uuidField('invalid_artifact_id', 'One artifact only, on all nodes of its Domain').optional(),
  kind: ViolationKind.optional().meta({ problem: 'invalid_kind', description: 'One kind only' }),
  status: ViolationStatus.optional().meta({ problem: 'invalid_status', description: 'One status only' }),
  labels: z.string().max(4_096).optional().meta({
    problem: 'invalid_label_filter',
    description:
      'Selector of the nodes, such as `env=prod,!legacy`. Effective labels count; an unknown key matches nothing.',
  }),
}
const parents = ['project_id', 'node_id', 'artifact_id', 'kind', 'status', 'labels'] as const
const columns = ['id', 'node_name', 'kind', 'artifact', 'status', 'occurrences', 'last_detected_at']
const wide = [
  'node_id',
  'domain_id',
  'artifact_id',
  'observed_checksum',
  'reported_at',
  'acknowledged_by_subject',
  'acknowledge_reason',
]
const acknowledgementColumns = ['acknowledge_reason', 'acknowledged_by_subject', 'acknowledged_at']
const id = uuidField('invalid_integrity_violation_id', 'Violation')
const ofDomain = { domain_id: uuidField('invalid_domain_id', 'Domain') }
const common = { credentials: OPERATOR, notProvisioned: 'integrity_violations_not_provisioned' } as const
const list = {
  ...common,
  method: 'GET',
  responses: {
    200: pageOf(IntegrityViolationRow).meta({ id: 'IntegrityViolationList', description: 'A page of violations.' }),
  },
} as const
const acknowledgement = {
  ...common,
  method: 'POST',
  body: IntegrityViolationAcknowledgeRequest,
  bodyBytesMax: 8 * KiB,
  responses: { 200: IntegrityViolationRow },
  problems: ['integrity_violation_not_found', 'illegal_transition'],
  sentences: { illegal_transition: 'Only an open violation can be acknowledged.' },
} as const
/** The step-up policy of both acknowledgements (S1 Authentication 3). */
const stepUp = 'integrity_acknowledge'

export const integrity = defineSurface(
  'integrity',
  {
    summary: 'Violations of integrity that nodes reported, and what people decided about them',
    nouns: { violations: { section: 'Fleet', position: 11, files: runtime('Reported by nodes') } },
  },
  {
    ListIntegrityViolations: {
      ...list,
      path: '/v1/integrity-violations',
      summary: 'List the violations of all Domains that you may read, newest first',
      description: 'Filter by Project, node, artifact, kind, status and labels of the node.',
      query: z.strictObject({
        domain_id: uuidField('invalid_domain_id', 'One Domain only').optional(),
        ...filters,
        ...clampedPageQuery,
      }),
      gate: { ...check('read', 'platform:main'), rows: { relation: 'read', object: 'domain:{row.domain_id}' } },
      audit: { relation: 'integrity_violation.list', when: 'all' },
      paging: { limit: 'clamped', cursor: 'caller', parents: ['domain_id', ...parents] },
      problems: [],
      cli: {
        command: 'violations list',
        refs: { domain_id: 'domains', project_id: 'projects', node_id: 'nodes' },
        selector: 'labels',
        columns,
        wide,
      },
    },
    GetIntegrityViolation: {
      ...common,
      method: 'GET',
      path: '/v1/integrity-violations/{id}',
      summary: 'Show a violation',
      description: 'With the expected and the observed checksum, and with how often it was reported.',
      params: z.strictObject({ id }),
      gate: check('read', 'platform:main'),
      audit: { relation: 'integrity_violation.read', when: 'all' },
      responses: { 200: IntegrityViolationRow },
      problems: ['integrity_violation_not_found'],
      cli: { command: 'violations show', args: ['id'], refs: { id: 'violations' }, columns, wide },
    },
    AcknowledgeIntegrityViolation: {
      ...acknowledgement,
      path: '/v1/integrity-violations/{id}/acknowledge',
      summary: 'Acknowledge an open violation',
      description:
        'Says that somebody has looked at it, and why it is acceptable or mended. It is resolved once the node reports the expected checksum.',
      params: z.strictObject({ id }),
      gate: { ...check('read', 'platform:main'), after: 'body', stepUp },
      audit: { relation: 'integrity_violation.acknowledge', when: 'all' },
      cli: {
        command: 'violations ack',
        args: ['id'],
        refs: { id: 'violations' },
        columns: ['id', 'node_name', 'kind', 'artifact', 'status', ...acknowledgementColumns],
        wide: wide.filter((column) => !acknowledgementColumns.includes(column)),
        done: 'Acknowledged violation {id}.',
      },
    },
    ListDomainIntegrityViolations: {
      ...list,
      path: '/v1/domains/{domain_id}/integrity-violations',
      summary: 'List the violations of a Domain, newest first',
      description: 'Filter by Project, node, artifact, kind, status and labels of the node.',
      params: z.strictObject(ofDomain),
      query: z.strictObject({ ...filters, ...clampedPageQuery }),
      gate: check('read', 'domain:{path.domain_id}'),
      audit: { relation: 'domain_integrity_violation.list', when: 'all' },
      paging: { limit: 'clamped', cursor: 'caller', parents },
      problems: [],
    },
    GetDomainIntegrityViolation: {
      ...common,
      method: 'GET',
      path: '/v1/domains/{domain_id}/integrity-violations/{id}',
      summary: 'Show a violation of a Domain',
      description: 'With the expected and the observed checksum, and with how often it was reported.',
      params: z.strictObject({ ...ofDomain, id }),
      gate: check('read', 'domain:{path.domain_id}'),
      audit: { relation: 'domain_integrity_violation.read', when: 'all' },
      responses: { 200: IntegrityViolationRow },
      problems: ['integrity_violation_not_found'],
    },
    AcknowledgeDomainIntegrityViolation: {
      ...acknowledgement,
      path: '/v1/domains/{domain_id}/integrity-violations/{id}/acknowledge',
      summary: 'Acknowledge an open violation of a Domain',
      description:
        'Says that somebody has looked at it, and why it is acceptable or mended. It is resolved once the node reports the expected checksum.',
      params: z.strictObject({ ...ofDomain, id }),
      gate: { ...check('operate', 'domain:{path.domain_id}'), after: 'body', stepUp },
      audit: { relation: 'domain_integrity_violation.acknowledge', when: 'all' },
    },
  },
)
