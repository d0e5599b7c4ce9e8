import { z } from 'zod'
import {
  CreatedAt,
  CreatedBy,
  InDomain,
  Instant,
  OfNode,
  OwnId,
  ShownName,
  ShownSlug,
  Slug,
  UpdatedAt,
  Uuid,
} from './fields.ts'

/** Nodes by percent of the fixed set, cumulative, or those whose label `update-group` has this value. */
const Wave = z
  .strictObject({
    percent: z.int().min(1).max(100).optional().describe('Share of all nodes that is upgraded by the end of the wave'),
    update_group: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe(
        'Nodes whose effective label `update-group` has this value: the label of the Domain where it defines one, else that of the platform',
      ),
  })
  .refine(({ percent, update_group: group }) => (percent === undefined) !== (group === undefined), {
    error: 'must have either percent or update_group',
  })

const TimeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'must be a time of day such as 09:00' })

/** When nodes may begin an upgrade: weekdays 1 (Monday) to 7, from inclusive to exclusive, in the zone's own time. */
const MaintenanceWindow = z.strictObject({
  time_zone: z.string().min(1).max(64).describe('IANA time zone'),
  days: z.array(z.int().min(1).max(7)).min(1).max(7).describe('Weekdays, 1 (Monday) to 7 (Sunday)'),
  from: TimeOfDay.describe('Time of day at which it begins, HH:MM'),
  to: TimeOfDay.describe('Before `from`: on the next day'),
})

/** Maximum number of waves of a rollout. */
const WAVES_MAX = 20

const plan = {
  version: z.string().min(1).max(128).describe('A release that may be installed: verified, and not withdrawn'),
  waves: z.array(Wave).min(1).max(WAVES_MAX).describe('In order; the last one ends at 100 percent or is a group'),
  canaries: z.int().min(0).max(5).describe('Nodes that are upgraded alone, before the first wave'),
  max_in_flight: z.int().min(1).max(10_000).describe('Nodes that are upgrading or soaking at the same time, at most'),
  soak_seconds: z.int().min(0).max(604_800).describe('For so long an upgraded node must stay healthy'),
  max_failures: z.int().min(0).max(100_000).describe('More failures than this halt the rollout'),
  window: MaintenanceWindow.nullable().describe('Null: at any time'),
  allow_downgrade: z.boolean().describe('Whether nodes that run a newer version get the older one'),
}

export const RolloutStatus = z.enum(['pending', 'running', 'paused', 'halted', 'completed', 'cancelled'])
export const RolloutNodeState = z.enum(['pending', 'upgrading', 'soaking', 'done', 'failed', 'skipped'])

const counts = z.object({
  pending: z.int().describe('Nodes whose turn has not come'),
  upgrading: z.int().describe('Nodes that are upgrading'),
  soaking: z.int().describe('Upgraded nodes that are being watched'),
  done: z.int().describe('Nodes that are done'),
  failed: z.int().describe('Nodes that failed'),
  skipped: z.int().describe('Nodes that were skipped'),
})

export const Rollout = z
  .object({
    id: OwnId,
    domain_id: InDomain,
    slug: ShownSlug,
    status: RolloutStatus.describe('How far it is; `completed` and `cancelled` are final'),
    ...plan,
    selector: z.string().describe('Canonical: each key is that of the Definition that it meant at the creation'),
    node_count: z.int().describe('Nodes that it has, fixed when it started; 0 before'),
    wave: z.int().nullable().describe('The wave in progress: 0 for the canaries; null before the start and at the end'),
    progress: z
      .array(
        z.object({
          wave: z.int().describe('Number of the wave; 0 for the canaries'),
          nodes: z.int().describe('Number of nodes in the wave'),
          counts: counts.describe('Number of nodes by state'),
        }),
      )
      .describe('Per wave, beginning with the canaries where there are any'),
    failures: z.int().describe('Number of nodes that have failed'),
    halted_reason: z.string().nullable().describe('Why it was halted; null where it was not'),
    waiting_for: z
      .enum(['window', 'capacity'])
      .nullable()
      .describe('What keeps the next upgrades from beginning; null where nothing does'),
    created_by: CreatedBy,
    created_at: CreatedAt,
    started_at: Instant.nullable().describe('When it was started; null before'),
    finished_at: Instant.nullable().describe('When it ended; null before'),
    updated_at: UpdatedAt,
  })
  .meta({ id: 'Rollout', description: 'The upgrade of many nodes to one release, wave by wave.' })

export const RolloutNode = z
  .object({
    node_id: OfNode,
    display_name: ShownName,
    wave: z.int().describe('Number of its wave; 0 for the canaries'),
    state: RolloutNodeState.describe('How far the node is'),
    reason: z.string().nullable().describe('Why it failed or was skipped'),
    execution_id: Uuid.nullable().describe('The execution that upgrades it; null before its turn'),
    updated_at: UpdatedAt,
  })
  .meta({ id: 'RolloutNode', description: 'A node of a rollout.' })

export const RolloutCreateRequest = z
  .strictObject({
    slug: Slug,
    version: plan.version,
    selector: z.string().min(1).max(4_096).describe('The nodes to upgrade, such as `env=staging`; `*` for all'),
    waves: plan.waves.default([{ percent: 100 }]),
    canaries: plan.canaries.default(0),
    max_in_flight: plan.max_in_flight.default(50),
    soak_seconds: plan.soak_seconds.default(0),
    max_failures: plan.max_failures.default(0),
    window: plan.window.default(null),
    allow_downgrade: plan.allow_downgrade.default(false),
  })
  .meta({ id: 'RolloutCreateRequest', description: 'A new rollout.' })
