import { refused, type StubRoutes } from '../support/cli/stub-server.ts'
import { ID } from './fleet.ts'

const OPEN = '019c1a10-0000-7000-8000-000000e10001'
const ACKNOWLEDGED = '019c1a10-0000-7000-8000-000000e10002'
const OTHER = '019c1a10-0000-7000-8000-000000e10003'
const ARTIFACT = '019c1a10-0000-7000-8000-000000f10001'

const violation = (id: string, more: Readonly<Record<string, unknown>> = {}) => ({
  id,
  node_id: ID.web,
  node_name: 'web-1',
  domain_id: ID.domain,
  project_id: null,
  kind: 'binary',
  status: 'open',
  artifact_id: ARTIFACT,
  artifact: '/usr/local/bin/agent',
  expected_checksum: 'ab'.repeat(32),
  observed_checksum: 'cd'.repeat(32),
  detected_at: '2026-02-01T10:00:00.000Z',
  reported_at: '2026-02-01T10:00:01.000Z',
  last_detected_at: '2026-02-01T11:59:00.000Z',
  occurrences: 120,
  acknowledged_at: null,
  acknowledged_by_subject: null,
  acknowledge_reason: null,
  resolved_at: null,
  ...more,
})

const ON_DB = violation(OTHER, { node_id: ID.db, node_name: 'db-1', occurrences: 3 })
const DECIDED = violation(ACKNOWLEDGED, {
  node_id: ID.old,
  node_name: null,
  kind: 'hook',
  artifact: 'backup',
  artifact_id: '019c1a10-0000-7000-8000-000000f10002',
  status: 'acknowledged',
  acknowledged_at: '2026-02-01T11:30:00.000Z',
  acknowledged_by_subject: `serviceaccount:${ID.build}`,
  acknowledge_reason: 'The hook was replaced by hand.',
})
const ALL = [violation(OPEN), ON_DB, DECIDED]

const FILTERS = ['status', 'kind', 'node_id', 'artifact_id'] as const

const LIST: StubRoutes[string] = ({ query }) => {
  const items = ALL.filter((row) => FILTERS.every((member) => [null, row[member]].includes(query.get(member))))
  return { body: { items, next_cursor: null } }
}

/** The policy of the Domain asks for a sign-in that the caller does not have. */
const STRONGER: StubRoutes[string] = (() => {
  const answer = refused(401, 'step_up_required', 'This operation needs a stronger sign-in than this session has.')
  return { ...answer, body: { ...(answer.body as object), acr_values: ['mfa'], max_age: 900 } }
})()

/** Two nodes with one altered binary, and a node that left with a hook that somebody has looked at. */
export const VIOLATIONS: StubRoutes = {
  'GET /v1/integrity-violations': LIST,
  [`GET /v1/domains/${ID.domain}/integrity-violations`]: LIST,
  [`GET /v1/integrity-violations/${OPEN}`]: { body: violation(OPEN) },
  [`GET /v1/integrity-violations/${ACKNOWLEDGED}`]: { body: DECIDED },
  [`POST /v1/integrity-violations/${OPEN}/acknowledge`]: {
    body: violation(OPEN, {
      status: 'acknowledged',
      acknowledged_at: '2026-02-01T12:00:00.000Z',
      acknowledged_by_subject: `serviceaccount:${ID.me}`,
      acknowledge_reason: 'Reinstalled.',
    }),
  },
  [`GET /v1/integrity-violations/${OTHER}`]: { body: ON_DB },
  [`POST /v1/integrity-violations/${OTHER}/acknowledge`]: STRONGER,
  [`POST /v1/integrity-violations/${ACKNOWLEDGED}/acknowledge`]: refused(
    409,
    'illegal_transition',
    'Only an open violation can be acknowledged.',
  ),
}
