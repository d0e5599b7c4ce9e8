import { refused, STUB_CORRELATION_ID, type SeenRequest, type StubRoutes } from '../support/cli/stub-server.ts'
import { ID } from './fleet.ts'

const OPS = '019c1a10-0000-7000-8000-0000000c0001'
const IDLE = '019c1a10-0000-7000-8000-0000000c0002'
const TUPLE = {
  viewer: '5a2e1c9a-0000-5000-8000-000000010001',
  deployer: '5a2e1c9a-0000-5000-8000-000000010002',
} as const
const BUILD = `serviceaccount:${ID.build}`
const WEB = `project:${ID.project}`
const DEFAULT = `domain:${ID.domain}`
const created_at = '2026-02-01T11:00:00.000Z'

const group = (id: string, slug: string) => ({ id, domain_id: ID.domain, slug, display_name: slug, created_at })

const TUPLES = [
  { id: TUPLE.viewer, subject: BUILD, relation: 'viewer', resource: WEB, created_at },
  {
    id: TUPLE.deployer,
    subject: `group:${OPS}#member`,
    relation: 'deployer',
    resource: WEB,
    caveat_context: { caveat_name: 'within_hours' },
    created_at,
  },
]

const page = (items: readonly unknown[]) => ({ body: { items, next_cursor: null } })

const named = (kind: string, outcome: string, more: Readonly<Record<string, unknown>>) => ({
  kind,
  outcome,
  parts: [],
  ...more,
})

const deploy = (outcome: string, parts: readonly unknown[]) =>
  named('permission', outcome, {
    object: WEB,
    name: 'deploy',
    parts: [named('union', outcome, { object: WEB, parts })],
  })

const memberOfOps = (outcome: string, condition: Readonly<Record<string, unknown>>) =>
  named('relation', outcome, {
    object: WEB,
    name: 'deployer',
    parts: [
      named('tuple', outcome, {
        object: WEB,
        name: 'deployer',
        subject: `group:${OPS}#member`,
        condition: { caveat: 'within_hours', ...condition },
        parts: [
          named('relation', 'granted', {
            object: `group:${OPS}`,
            name: 'member',
            parts: [named('tuple', 'granted', { object: `group:${OPS}`, name: 'member', subject: BUILD })],
          }),
        ],
      }),
    ],
  })

const OPERATE = named('permission', 'denied', {
  object: DEFAULT,
  name: 'operate',
  parts: [named('relation', 'denied', { object: DEFAULT, name: 'operator' }), { kind: 'hidden', parts: [] }],
})

const DENIED = {
  decision: 'denied',
  reason: 'insufficient_relation',
  tree: deploy('denied', [
    named('permission', 'denied', { object: WEB, name: 'manage', omitted: 'too_large' }),
    named('relation', 'denied', { object: WEB, name: 'deployer' }),
    named('arrow', 'denied', {
      object: WEB,
      name: 'domain->operate',
      parts: [named('tuple', 'denied', { object: WEB, name: 'domain', subject: DEFAULT, parts: [OPERATE] })],
    }),
  ]),
  remedies: [
    [{ subject: BUILD, relation: 'deployer', resource: WEB }],
    [{ subject: BUILD, relation: 'member', resource: `group:${OPS}` }],
    [{ subject: BUILD, relation: 'operator', resource: DEFAULT }],
  ],
  correlation_id: STUB_CORRELATION_ID,
}

const CONDITIONAL = {
  ...DENIED,
  reason: 'caveat_violation',
  tree: deploy('conditional', [
    memberOfOps('conditional', { outcome: 'conditional', missing: ['now'], is_expired: false }),
  ]),
  remedies: [],
}

const GRANTED = {
  decision: 'allowed',
  relation_path: ['deployer', 'member'],
  tree: deploy('granted', [memberOfOps('granted', { outcome: 'granted', missing: [], is_expired: false })]),
  remedies: [],
  correlation_id: STUB_CORRELATION_ID,
}

function explained({ body }: SeenRequest) {
  const { subject, caveat_context: facts } = body as { subject: string; caveat_context?: object }
  if (subject !== BUILD) return { body: DENIED }
  return { body: facts === undefined ? CONDITIONAL : GRANTED }
}

interface Edit {
  readonly op: string
  readonly relation?: string
}

function tried({ body }: SeenRequest) {
  const { edits } = body as { edits: readonly Edit[] }
  const isNothing = edits.every(({ relation }) => relation === 'viewer')
  const change = edits[0]?.op === 'create' ? 'gains' : 'loses'
  const resources = [WEB, ...[ID.web, ID.db, ID.old].map((id) => `node:${id}`)]
  const changes = resources.flatMap((resource) =>
    ['observe', 'read'].map((permission) => ({ subject: BUILD, permission, resource, change })),
  )
  const answer = { changes, count: changes.length + 3, hidden_count: 1, complete: true }
  return {
    body: {
      ...(isNothing ? { changes: [], count: 0, hidden_count: 0, complete: true } : answer),
      correlation_id: STUB_CORRELATION_ID,
    },
  }
}

function imported({ body }: SeenRequest) {
  const { tuples } = body as { tuples: readonly { relation: string }[] }
  const row = tuples.findIndex(({ relation }) => relation === 'viewer')
  if (row < 0)
    return { status: 201, body: { items: tuples.map((tuple) => ({ id: TUPLE.viewer, created_at, ...tuple })) } }
  const refusal = refused(409, 'tuple_already_exists', 'An identical tuple exists already.')
  const error = { row: row + 1, code: 'tuple_already_exists', detail: 'An identical tuple exists already.' }
  return { ...refusal, body: { ...(refusal.body as object), errors: [error], error_count: 1 } }
}

/** What the stub knows of authorization: `build` views the Project `web`, and may deploy to it as one of `ops` in business hours. */
export const AUTHZ: StubRoutes = {
  [`GET /v1/domains/${ID.domain}/groups`]: page([group(OPS, 'ops'), group(IDLE, 'idle')]),
  [`GET /v1/domains/${ID.domain}/groups/${OPS}`]: { body: { ...group(OPS, 'ops'), members: [BUILD] } },
  [`GET /v1/domains/${ID.domain}/groups/${IDLE}`]: { body: { ...group(IDLE, 'idle'), members: [] } },
  'POST /v1/authz/explain': explained,
  'POST /v1/authz/impact': tried,
  'POST /v1/authz/lookup-subjects': ({ body }) => {
    const { subject_type: type, relation } = body as { subject_type: string; relation: string }
    const found = { user: ['user:*'], serviceaccount: [BUILD] }[type] ?? []
    return { body: { items: relation === 'manage' ? [] : found, correlation_id: STUB_CORRELATION_ID } }
  },
  'POST /v1/authz/lookup-resources': ({ body }) => {
    const { resource_type: type, relation } = body as { resource_type: string; relation: string }
    if (type === 'cloud' && relation === 'manage') return { body: { items: [], correlation_id: STUB_CORRELATION_ID } }
    const found = { project: [WEB], node: [`node:${ID.web}`, `node:${ID.db}`] }[type] ?? []
    return { body: { items: relation === 'manage' ? [] : found, correlation_id: STUB_CORRELATION_ID } }
  },
  [`POST /v1/domains/${ID.domain}/grants`]: [
    { status: 201, body: { id: TUPLE.viewer, subject: BUILD, relation: 'operator', resource: DEFAULT, created_at } },
    refused(409, 'tuple_already_exists', 'An identical tuple exists already.'),
  ],
  'POST /v1/platform/grants': {
    status: 201,
    body: { id: TUPLE.viewer, subject: BUILD, relation: 'admin', resource: 'platform:main', created_at },
  },
  'POST /v1/authz/reconcile': { body: { checked: 1200, granted: 1, revoked: 0, unresolved: 0 } },
  'GET /v1/authz/relation-tuples': page(TUPLES),
  'POST /v1/authz/relation-tuples': ({ body }) => ({
    status: 201,
    body: { id: TUPLE.deployer, ...(body as object), created_at },
  }),
  'POST /v1/authz/relation-tuples/bulk': imported,
  [`PATCH /v1/authz/relation-tuples/${TUPLE.viewer}`]: ({ body }) =>
    (body as { relation: string }).relation === 'admin'
      ? refused(500, 'internal', 'The server failed; its log has the reason under this correlation id.')
      : { body: { id: TUPLE.deployer, ...(body as object), created_at } },
  [`DELETE /v1/authz/relation-tuples/${TUPLE.viewer}`]: { status: 204 },
}
