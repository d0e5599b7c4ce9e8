import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { CAPACITY_DIMENSIONS } from '../capacity/dimensions.ts'
import { Instant, KiB, Uuid, uuidField } from './fields.ts'
import { check, defineSurface, OPERATOR } from './operation.ts'

const Dimension = z.enum(CAPACITY_DIMENSIONS).describe('What is counted')
const Unit = z.enum(['count', 'events/sec', 'reads/sec', 'bytes/sec']).describe('Unit of `used` and of the target')

const CapacityDimensionUse = z
  .object({
    dimension: Dimension,
    unit: Unit,
    used: z.number().describe('What the Domain has or uses now: a number, or a rate per second'),
    target: z.int().describe('How much it is meant to have at most; 0: no target'),
    ratio: z.number().nullable().describe('`used` divided by `target`; null without a target'),
    enforced: z.boolean().describe('Whether calls beyond the target are refused with `capacity_exceeded`'),
    over_threshold: z.boolean().describe('Whether the ratio reached 0.80 and has not fallen below 0.75 since'),
    days_until_full: z
      .number()
      .nullable()
      .describe(
        'Days until the target is reached if growth goes on; null for rates, without growth, and beyond a year',
      ),
  })
  .meta({ id: 'CapacityDimensionUse', description: 'Use of one dimension of capacity, compared with its target' })

const DomainCapacity = z
  .object({
    domain_id: Uuid.describe('The Domain'),
    sampled_at: Instant.describe('When the sample was taken'),
    interval_seconds: z.number().describe('Seconds between two samples'),
    dimensions: z.array(CapacityDimensionUse).describe('All six, always in the same order'),
  })
  .meta({ id: 'DomainCapacity', description: 'The last sample of the capacity of a Domain' })

/** At most `CAPACITY_TARGET_MAX`, as every integer of the contract. */
const target = z.int().min(0).nullable().optional().meta({ problem: 'invalid_capacity_target' })

const CapacityTargetsRequest = z
  .strictObject({
    nodes: target.describe('Nodes; null: the default of 10,000; 0: no target'),
    sse_fanout: target.describe('Events a second to all streams; null: the default of 1,000; 0: no target'),
    secret_reads: target.describe('Secrets read by nodes a second; null: the default of 10,000; 0: no target'),
    mediated_sessions: target.describe('Live mediated sessions; null: the default of 500; 0: no target'),
    observability_ingest: target.describe('Bytes a second of reports; null: the default of 5,242,880; 0: no bound'),
    action_executions: target.describe('Open executions; null: the default of 1,000; 0: no bound'),
  })
  .meta({
    id: 'CapacityTargetsRequest',
    description: 'Targets to set. Those that are not named stay as they are; null restores a default.',
  })

const CapacityTargets = z
  .object({
    domain_id: Uuid.describe('The Domain'),
    targets: z
      .array(
        z.object({
          dimension: Dimension,
          target: z.int().describe('0: no target'),
          former_target: z.int().describe('The target before the change'),
          is_default: z.boolean().describe('Whether the Domain has no target of its own'),
        }),
      )
      .describe('All six, always in the same order'),
  })
  .meta({ id: 'CapacityTargets', description: 'The targets of a Domain after the change, of all six dimensions' })

const CapacityHistory = z
  .object({
    domain_id: Uuid.describe('The Domain'),
    dimension: Dimension,
    unit: Unit,
    points: z
      .array(
        z.object({
          hour: Instant.describe('Start of the hour'),
          used_max: z.number().describe('The largest sample of the hour'),
          target: z.int().describe('The target at the end of the hour; 0: none'),
        }),
      )
      .describe('Oldest first; an hour without a sample is missing'),
  })
  .meta({ id: 'CapacityHistory', description: 'The largest samples of each hour of the last 35 days' })

const params = z.strictObject({ domain_id: uuidField('invalid_domain_id', 'Domain') })
const common = { credentials: OPERATOR, params, notProvisioned: 'capacity_not_provisioned' } as const
const columns = ['dimension', 'used', 'target', 'ratio', 'unit', 'enforced', 'over_threshold', 'days_until_full']

export const capacity = defineSurface(
  'capacity',
  {
    summary: 'How much the Domains use of what they are meant to have at most',
    nouns: {
      capacity: {
        section: 'Fleet',
        position: 12,
        files: runtime('Targets are set by the platform, usage is measured'),
      },
    },
  },
  {
    GetDomainCapacity: {
      ...common,
      method: 'GET',
      path: '/v1/domains/{domain_id}/capacity',
      summary: 'Show what a Domain uses of its capacity',
      description:
        'The last sample, taken every 15 seconds by default. Before the first one: 503 `capacity_not_sampled`.',
      gate: check('read', 'domain:{path.domain_id}'),
      audit: { relation: 'capacity.read', when: 'all' },
      responses: { 200: DomainCapacity },
      problems: ['domain_not_found', 'capacity_not_sampled'],
      cli: {
        command: 'capacity show',
        args: ['domain_id'],
        refs: { domain_id: 'domains' },
        rows: 'dimensions',
        columns,
      },
    },
    SetCapacityTargets: {
      ...common,
      method: 'PUT',
      path: '/v1/domains/{domain_id}/capacity/targets',
      summary: 'Set targets of the capacity of a Domain',
      description: 'Targets that are not named stay as they are.',
      body: CapacityTargetsRequest,
      bodyBytesMax: 8 * KiB,
      gate: check('manage', 'platform:main'),
      audit: { relation: 'capacity.targets.update', when: 'all', object: 'domain:{path.domain_id}' },
      responses: { 200: CapacityTargets },
      problems: ['domain_not_found'],
      cli: {
        command: 'capacity targets set',
        args: ['domain_id'],
        refs: { domain_id: 'domains' },
        rows: 'targets',
        columns: ['dimension', 'target', 'is_default'],
      },
    },
    GetDomainCapacityHistory: {
      ...common,
      method: 'GET',
      path: '/v1/domains/{domain_id}/capacity/history',
      summary: 'Show how the use of a dimension developed',
      description: 'The largest sample of each hour. Hours are kept for 35 days.',
      query: z.strictObject({
        dimension: Dimension.meta({ problem: 'invalid_dimension', description: 'The dimension' }),
        since: z.iso.datetime({ offset: true }).optional().meta({
          problem: 'invalid_capacity_filter',
          description: 'No hours before this instant; 35 days are kept',
        }),
      }),
      gate: check('read', 'domain:{path.domain_id}'),
      audit: { relation: 'capacity.history.read', when: 'all' },
      responses: { 200: CapacityHistory },
      problems: ['domain_not_found'],
      cli: {
        command: 'capacity history',
        args: ['domain_id'],
        refs: { domain_id: 'domains' },
        rows: 'points',
        columns: ['hour', 'used_max', 'target'],
      },
    },
  },
)
