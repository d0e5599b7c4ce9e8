import { refused, type SeenRequest, type StubAnswer, type StubRoutes } from '../support/cli/stub-server.ts'
import { FLEET, ID } from './fleet.ts'

const rolloutId = (number: number): string => `019c1a10-0000-7000-8000-0000000e2${String(number).padStart(3, '0')}`
const executionId = (number: number): string => `019c1a10-0000-7000-8000-0000000e3${String(number).padStart(3, '0')}`

const NONE = { pending: 0, upgrading: 0, soaking: 0, done: 0, failed: 0, skipped: 0 }

const wave = (number: number, counts: Partial<typeof NONE>) => {
  const all = { ...NONE, ...counts }
  return { wave: number, nodes: Object.values(all).reduce((sum, count) => sum + count, 0), counts: all }
}

/** A plan that has not started. */
const PENDING = {
  id: rolloutId(1),
  domain_id: ID.domain,
  slug: 'r1',
  status: 'pending',
  version: '1.5.0',
  selector: 'env=staging',
  waves: [{ percent: 5 }, { percent: 25 }, { update_group: 'blue' }, { percent: 100 }],
  canaries: 2,
  max_in_flight: 50,
  soak_seconds: 600,
  max_failures: 1,
  window: { time_zone: 'Europe/Berlin', days: [1, 2, 3, 4, 5], from: '09:00', to: '16:00' },
  allow_downgrade: false,
  node_count: 0,
  wave: null as number | null,
  progress: [] as readonly ReturnType<typeof wave>[],
  failures: 0,
  halted_reason: null as string | null,
  waiting_for: null as string | null,
  created_by: `user:${ID.me}`,
  created_at: '2026-02-01T08:00:00.000Z',
  started_at: null as string | null,
  finished_at: null as string | null,
  updated_at: '2026-02-01T08:00:00.000Z',
}

const STARTED = {
  ...PENDING,
  status: 'running',
  node_count: 200,
  wave: 0,
  progress: [
    wave(0, { upgrading: 2 }),
    wave(1, { pending: 8 }),
    wave(2, { pending: 40 }),
    wave(3, { pending: 30 }),
    wave(4, { pending: 120 }),
  ],
  started_at: '2026-02-01T11:00:00.000Z',
  updated_at: '2026-02-01T11:59:58.000Z',
}

const SECOND_WAVE = {
  ...STARTED,
  wave: 2,
  failures: 1,
  progress: [
    wave(0, { done: 2 }),
    wave(1, { done: 8 }),
    wave(2, { done: 10, soaking: 12, upgrading: 6, pending: 10, failed: 1, skipped: 1 }),
    wave(3, { pending: 30 }),
    wave(4, { pending: 120 }),
  ],
}

const CLOSED = { ...SECOND_WAVE, waiting_for: 'window' }

const HALTED = {
  ...SECOND_WAVE,
  status: 'halted',
  failures: 2,
  halted_reason: '2 of the nodes failed, and 1 may fail.',
  wave: null,
  progress: [
    wave(0, { done: 2 }),
    wave(1, { done: 8 }),
    wave(2, { done: 36, failed: 2, skipped: 1, pending: 1 }),
    wave(3, { pending: 30 }),
    wave(4, { pending: 120 }),
  ],
  finished_at: '2026-02-01T12:00:00.000Z',
}

/** Another rollout: all nodes of the Domain in one wave. */
const SIMPLE = {
  ...STARTED,
  id: rolloutId(2),
  slug: 'r2',
  selector: '*',
  waves: [{ percent: 100 }],
  canaries: 0,
  soak_seconds: 0,
  max_failures: 0,
  window: null,
  node_count: 3,
  wave: 1,
  progress: [wave(1, { upgrading: 3 })],
}
const COMPLETED = {
  ...SIMPLE,
  status: 'completed',
  wave: null,
  progress: [wave(1, { done: 3 })],
  finished_at: '2026-02-01T12:00:00.000Z',
}
const CANCELLED = {
  ...SIMPLE,
  id: rolloutId(3),
  slug: 'r3',
  status: 'cancelled',
  wave: null,
  progress: [wave(1, { done: 1, pending: 2 })],
  finished_at: '2026-02-01T11:30:00.000Z',
}

const NODES = [
  { node_id: ID.web, display_name: 'web-1', wave: 0, state: 'done', reason: null, execution_id: executionId(1) },
  {
    node_id: ID.db,
    display_name: 'db-1',
    wave: 2,
    state: 'failed',
    reason: 'The checksum differs from that of the release.',
    execution_id: executionId(2),
  },
  {
    node_id: ID.old,
    display_name: 'old-1',
    wave: 2,
    state: 'skipped',
    reason: 'The labels of the node no longer match the selector.',
    execution_id: null,
  },
].map((row) => ({ ...row, updated_at: '2026-02-01T11:58:00.000Z' }))

/** A problem with members of its own. */
function refusedWith(status: number, code: string, more: object): StubAnswer {
  const answer = refused(status, code, `The server says ${code}.`)
  return { ...answer, body: { ...(answer.body as object), ...more } }
}

function created({ body }: SeenRequest): StubAnswer {
  const plan = body as Readonly<Record<string, unknown>>
  if (plan['slug'] === 'r2') return refused(409, 'slug_conflict', 'That slug is taken.')
  if (plan['selector'] === 'evn=prod')
    return refusedWith(400, 'invalid_selector', {
      errors: [
        { pointer: '/selector', offset: 0, length: 3, message: 'No label evn is defined here. Did you mean env?' },
      ],
    })
  if (plan['version'] === '1.4.0')
    return refusedWith(422, 'release_not_eligible', { reason: 'the release was withdrawn' })
  if (Array.isArray(plan['waves']) && plan['waves'].length === 1)
    return refusedWith(400, 'invalid_rollout', {
      errors: [{ pointer: '/waves/0/percent', detail: 'must be 100 in the last wave' }],
    })
  return { status: 201, body: { ...PENDING, ...plan } }
}

const R = `/v1/rollouts/${PENDING.id}`
const R2 = `/v1/rollouts/${SIMPLE.id}`
const APPROVAL = '019c1a10-0000-7000-8000-0000000e4001'

/** A rollout that halts while it is watched, one that completes, and one that was cancelled. */
export const rolloutsFleet = (): { readonly routes: StubRoutes } => ({
  routes: {
    ...FLEET,
    [`GET /v1/domains/${ID.domain}/rollouts`]: { body: { items: [SIMPLE, CANCELLED, CLOSED], next_cursor: null } },
    [`POST /v1/domains/${ID.domain}/rollouts`]: created,
    [`GET ${R}`]: [
      { body: PENDING },
      { body: CLOSED },
      { body: CLOSED },
      { body: STARTED },
      { body: STARTED },
      { body: SECOND_WAVE },
      refused(503, 'datastore_unavailable', 'The datastore is not available.'),
      { body: CLOSED },
      { body: HALTED },
    ],
    [`GET ${R2}`]: [{ body: SIMPLE }, { body: COMPLETED }],
    [`GET /v1/rollouts/${CANCELLED.id}`]: { body: CANCELLED },
    [`GET ${R}/nodes`]: { body: { items: NODES, next_cursor: null } },
    [`POST ${R}/start`]: [
      { body: STARTED },
      refused(409, 'illegal_transition', 'Only a pending rollout can be started.'),
      refusedWith(409, 'rollout_conflict', { rollout_id: SIMPLE.id }),
    ],
    [`POST ${R2}/start`]: { status: 202, headers: { location: `/v1/approvals/${APPROVAL}` }, body: {} },
    [`POST ${R}/pause`]: { body: { ...STARTED, status: 'paused' } },
    [`POST ${R}/resume`]: { body: STARTED },
    [`POST ${R}/cancel`]: { body: { ...STARTED, status: 'cancelled' } },
    [`DELETE ${R2}`]: { status: 204 },
    [`DELETE ${R}`]: refused(409, 'illegal_transition', 'The rollout has not ended; cancel it first.'),
  },
})
