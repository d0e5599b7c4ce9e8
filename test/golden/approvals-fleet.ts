import { refused, type StubRoutes } from '../support/cli/stub-server.ts'
import { ID } from './fleet.ts'

const DENIED = '019c1a10-0000-7000-8000-0000000a9003'
const LENDING = '019c1a10-0000-7000-8000-0000000a9001'
const OWN = '019c1a10-0000-7000-8000-0000000a9002'
const ANN = 'user:019c1a10-0000-7000-8000-0000000b0001'
const BEN = 'user:019c1a10-0000-7000-8000-0000000b0002'

const approval = (id: string, more: Readonly<Record<string, unknown>> = {}) => ({
  id,
  kind: 'credential_assignment',
  object: `credential_assignment:019c1a10-0000-7000-8000-0000000${id.slice(-5)}`,
  domain_id: ID.domain,
  project_id: ID.project,
  state: 'pending-approval',
  requested_by: ANN,
  requested_by_name: 'Ann',
  requested_at: '2026-02-01T11:00:00.000Z',
  expires_at: '2026-02-08T11:00:00.000Z',
  reason: 'For the release',
  required_approvals: 2,
  decisions: [{ subject: BEN, subject_name: 'Ben', decision: 'approve', at: '2026-02-01T11:30:00.000Z' }],
  action: {
    name: 'credentials.lend',
    operation: 'RequestCredentialAssignment',
    summary: 'Lend credential "deploy" of Cloud eu1 to Project web',
    sentence: 'Lend credential "deploy" of Cloud eu1 to Project web',
  },
  ...more,
})

const DEPLOYER = 'serviceaccount:019c1a10-0000-7000-8000-0000000e5b1a'

const MINE = approval(OWN, {
  requested_by: BEN,
  requested_by_name: 'Ben',
  decisions: [],
  required_approvals: 1,
  reason: undefined,
  kind: 'held_call',
  object: DEPLOYER,
  project_id: undefined,
  action: {
    name: 'access.admin',
    operation: 'CreateDomainGrant',
    summary: `Make ${DEPLOYER} admin of domain:${ID.domain}.`,
    sentence: 'Make Deployer (service:000e5b1a) admin of the Domain default.',
  },
})

/** The policy that asks for two approvals of what is lent, or the one that a PUT leaves. */
const policy = (actions: Readonly<Record<string, { readonly required_approvals: number }>>, ttl?: number) => ({
  actions,
  ...(ttl !== undefined && { ttl_seconds: ttl }),
  effective_ttl_seconds: ttl ?? 604_800,
  effective: ['clouds.lend', 'credentials.lend', 'domain.delete'].map((action) => {
    const own = actions[action]?.required_approvals
    const otherwise = action === 'domain.delete' ? 0 : 1
    return { action, required_approvals: own ?? otherwise, source: own === undefined ? 'default' : 'domain' }
  }),
  updated_by: ANN,
  updated_at: '2026-02-01T10:00:00.000Z',
})

const PUT: StubRoutes[string] = ({ body }) => {
  const { actions, ttl_seconds: ttl } = body as Parameters<typeof policy>[0] & {
    readonly actions: Parameters<typeof policy>[0]
    readonly ttl_seconds?: number
  }
  return { body: policy(actions, ttl) }
}

const TOO_FEW = refused(
  409,
  'too_few_approvers',
  'Fewer people could decide than this policy asks for; give more people the right to manage this first.',
)

/** One approval that Ann requested and that waits for a second decision, and one of Ben. */
export const APPROVALS: StubRoutes = {
  'GET /v1/approvals': ({ query }) => {
    const role = query.get('role')
    const items = role === 'requester' ? [MINE] : role === 'decider' ? [approval(LENDING)] : [MINE, approval(LENDING)]
    return { body: { items, next_cursor: null } }
  },
  [`GET /v1/approvals/${LENDING}`]: { body: approval(LENDING) },
  [`GET /v1/approvals/${OWN}`]: { body: MINE },
  [`POST /v1/approvals/${LENDING}/approve`]: { body: approval(LENDING, { state: 'approved' }) },
  [`POST /v1/approvals/${OWN}/approve`]: refused(
    403,
    'self_approval_denied',
    'A second person has to decide: you requested this, or somebody else changed how you sign in after it was requested.',
  ),
  [`POST /v1/approvals/${DENIED}/approve`]: {
    status: 403,
    body: {
      type: '/problems/permission-denied',
      title: 'Permission denied',
      status: 403,
      detail: 'The caller lacks the relation that this operation needs.',
      code: 'permission_denied',
      correlation_id: '00000000-0000-4000-a000-00000000c0de',
      reason: 'insufficient_relation',
      relation_path: [],
      missing_relation: { object: `domain:${ID.domain}`, relation: 'manage', subject: `serviceaccount:${ID.me}` },
    },
  },
  [`POST /v1/approvals/${LENDING}/reject`]: refused(
    409,
    'illegal_transition',
    'The approval has ended already, or you have approved it already.',
  ),
  [`POST /v1/approvals/${OWN}/withdraw`]: { body: { ...MINE, state: 'withdrawn' } },
  [`GET /v1/domains/${ID.domain}/approval-policy`]: { body: policy({ 'credentials.lend': { required_approvals: 2 } }) },
  [`PUT /v1/domains/${ID.domain}/approval-policy`]: PUT,
  'GET /v1/platform/approval-policy': { body: policy({}) },
  'PUT /v1/platform/approval-policy': {
    ...TOO_FEW,
    body: { ...(TOO_FEW.body as object), approvers: 2, needed: 6 },
  },
}
