import { refused, type SeenRequest, type StubAnswer, type StubRoutes } from '../support/cli/stub-server.ts'
import { FLEET, ID } from './fleet.ts'

/** What a dimension uses of its target. */
const use = (dimension: string, unit: string, more: Readonly<Record<string, unknown>>) => ({
  dimension,
  unit,
  used: 0,
  target: 1000,
  ratio: 0 as number | null,
  enforced: false,
  over_threshold: false,
  days_until_full: null as number | null,
  ...more,
})

const sample = (domain: string, sampledAt: string, dimensions: readonly ReturnType<typeof use>[]) => ({
  domain_id: domain,
  sampled_at: sampledAt,
  interval_seconds: 15,
  dimensions,
})

const SIX = [
  use('nodes', 'count', { used: 8123, target: 10_000, ratio: 0.8123, over_threshold: true, days_until_full: 12.4 }),
  use('sse_fanout', 'events/sec', { used: 12.53, ratio: 0.01253 }),
  use('secret_reads', 'reads/sec', { used: 0.2, target: 10_000, ratio: 0.00002 }),
  use('mediated_sessions', 'count', { target: 0, used: 7, ratio: null }),
  use('observability_ingest', 'bytes/sec', {
    used: 5_400_000,
    target: 5_242_880,
    ratio: 1.03,
    enforced: true,
    over_threshold: true,
  }),
  use('action_executions', 'count', { used: 3, ratio: 0.003, enforced: true }),
]

const QUIET = SIX.map((one) => ({
  ...one,
  used: 1,
  ratio: one.target === 0 ? null : 1 / one.target,
  over_threshold: false,
  days_until_full: null,
}))

/** The sample of the Domain `default`: one dimension over its threshold and one over its target. */
export const FULL = sample(ID.domain, '2026-02-01T11:59:52.000Z', SIX)
/** The sample of the Domain `lab`: nothing is much used. */
export const CALM = sample(ID.lab, '2026-02-01T11:59:48.000Z', QUIET)

/** So many hours up to noon of 1 February 2026, each with what `used` says. */
export const hoursOf = (count: number, used: (hour: number) => number, target: (hour: number) => number) =>
  Array.from({ length: count }, (_, hour) => ({
    hour: new Date(Date.parse('2026-02-01T12:00:00.000Z') - (count - 1 - hour) * 3_600_000).toISOString(),
    used_max: used(hour),
    target: target(hour),
  }))

/** Thirty days of growth; the server was away for a day, and the target was raised once. */
const GROWTH = hoursOf(
  720,
  (hour) => 4000 + hour * 7 + (hour % 24) * 20,
  (hour) => (hour < 300 ? 8000 : 10_000),
).filter((_, hour) => hour < 400 || hour >= 424)

/** A few hours far below their target. */
const BYTES = hoursOf(
  6,
  (hour) => 10_000 * (hour + 1),
  () => 5_242_880,
)

const HISTORIES: Readonly<Record<string, { readonly unit: string; readonly points: readonly unknown[] }>> = {
  nodes: { unit: 'count', points: GROWTH },
  observability_ingest: { unit: 'bytes/sec', points: BYTES },
}

function history({ query }: SeenRequest): StubAnswer {
  const dimension = query.get('dimension') ?? ''
  const known = HISTORIES[dimension] ?? { unit: 'events/sec', points: [] }
  return { body: { domain_id: ID.domain, dimension, ...known } }
}

const DEFAULTS: Readonly<Record<string, number>> = {
  nodes: 10_000,
  sse_fanout: 1000,
  secret_reads: 10_000,
  mediated_sessions: 500,
  observability_ingest: 5_242_880,
  action_executions: 1000,
}

function targets({ body }: SeenRequest): StubAnswer {
  const typed = body as Readonly<Record<string, number | null>>
  const all = SIX.map(({ dimension, target }) => {
    const named = typed[dimension]
    const preset = DEFAULTS[dimension] ?? 0
    const now = named === undefined ? target : (named ?? preset)
    return { dimension, target: now, former_target: target, is_default: now === preset }
  })
  return { body: { domain_id: ID.domain, targets: all } }
}

/** A problem with members of its own. */
const denied = (): StubAnswer => {
  const answer = refused(403, 'permission_denied', 'You lack a relation that this needs.')
  const missing = { subject: `user:${ID.me}`, relation: 'manage', object: 'platform:main' }
  return { ...answer, body: { ...(answer.body as object), missing_relation: missing } }
}

const unsampled = (): StubAnswer => {
  const answer = refused(
    503,
    'capacity_not_sampled',
    'This server has taken no sample of the Domain yet; retry after the time in Retry-After.',
  )
  return { ...answer, headers: { ...answer.headers, 'retry-after': '40' } }
}

const domain = (id: string, slug: string) => ({
  id,
  slug,
  display_name: '',
  endpoint_ttl: 120,
  trusted_networks: [],
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
})

/** A Domain that is nearly full, and one that is not sampled yet at first. */
export const capacityFleet = (): { readonly routes: StubRoutes } => ({
  routes: {
    ...FLEET,
    'GET /v1/domains': { body: { items: [domain(ID.domain, 'default'), domain(ID.lab, 'lab')], next_cursor: null } },
    [`GET /v1/domains/${ID.domain}/capacity`]: { body: FULL },
    [`GET /v1/domains/${ID.lab}/capacity`]: [unsampled(), unsampled(), { body: CALM }],
    [`GET /v1/domains/${ID.domain}/capacity/history`]: history,
    [`PUT /v1/domains/${ID.domain}/capacity/targets`]: targets,
    [`PUT /v1/domains/${ID.lab}/capacity/targets`]: denied(),
    'POST /v1/authz/check': { body: { decision: 'denied' } },
  },
})
