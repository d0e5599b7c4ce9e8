import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { Approval, APPROVAL_STATES, ApprovalApproveRequest, ApprovalRejectRequest } from './approval-schemas.ts'
import { defineSurface, open, OPERATOR, type GateLeg } from './operation.ts'
import { KiB, pageOf, pageQuery, uuidField } from './fields.ts'

const params = z.strictObject({ id: uuidField('invalid_approval_id', 'Approval') })
const columns = ['action.sentence', 'state', 'requested_by', 'expires_at', 'id']
const details = [
  'action.summary',
  'action.name',
  'object',
  'requested_at',
  'required_approvals',
  'domain_id',
  'project_id',
]
const refs = { id: 'approvals' }

/** Whether the caller may read the names of every Domain. */
const probes = { platform: { relation: 'read', object: 'platform:main' } } as const

/** Who decides: an approval names the relation and its object. */
const decides: GateLeg = { relation: '{row.decide_relation}', object: '{row.decide_object}' }
/** Who sees it besides: readers of its Project, else of its Domain, else of the platform. */
const reads: GateLeg = { relation: 'read', object: '{row.place}' }

const common = { credentials: OPERATOR, notProvisioned: 'approvals_not_provisioned' } as const

/** An approval has no gate but that of its row: who may not see it is answered as for an unknown id. */
const ofRow = { own: '{row.requested_by}', missingRow: 'approval_not_found', fold: 'approval_not_found' } as const

const DECISION = 'The approval has ended already, or you have approved it already.'
const decision = {
  ...common,
  method: 'POST',
  params,
  gate: { ...ofRow, anyOf: [decides], foldUnless: [reads], probes },
  bodyBytesMax: 8 * KiB,
  responses: { 200: Approval },
  sentences: { illegal_transition: DECISION },
} as const

export const approvals = defineSurface(
  'approvals',
  {
    summary: 'Requests that wait for the decision of a second person',
    nouns: { approvals: { section: 'Access', position: 8, files: runtime('Requests and decisions of people') } },
  },
  {
    ListApprovals: {
      ...common,
      method: 'GET',
      path: '/v1/approvals',
      summary: 'List the approvals that you requested, may decide or may see, newest first',
      description: 'Filter by Domain, Project, kind and state. Others are left out.',
      query: z.strictObject({
        state: z.enum(APPROVAL_STATES).optional().meta({ problem: 'invalid_state', description: 'One state only' }),
        kind: z
          .string()
          .regex(/^[a-z][a-z0-9_]{0,62}$/)
          .optional()
          .meta({ problem: 'invalid_kind', description: 'Only of this kind, e.g. credential_assignment' }),
        project_id: uuidField('invalid_project_id', 'Only of this Project').optional(),
        domain_id: uuidField('invalid_domain_id', 'Only of this Domain and its Projects').optional(),
        role: z
          .enum(['requester', 'decider'])
          .optional()
          .describe('requester: only your own requests; decider: only requests of others that you may decide'),
        ...pageQuery,
      }),
      gate: {
        ...open('each row is shown to its requester, and by the relations that decide it and that read its place'),
        own: '{row.requested_by}',
        rows: [decides, reads],
        probes: { decider: decides, ...probes },
      },
      audit: { relation: 'approval.list', when: 'all', object: 'platform:main' },
      paging: {
        limit: 'rejected',
        cursor: 'caller',
        parents: ['state', 'kind', 'project_id', 'domain_id', 'role'],
      },
      responses: { 200: pageOf(Approval).meta({ id: 'ApprovalList', description: 'A page of approvals.' }) },
      problems: [],
      cli: {
        command: 'approvals list',
        columns,
        wide: details,
        refs: { project_id: 'projects', domain_id: 'domains' },
      },
    },
    GetApproval: {
      ...common,
      method: 'GET',
      path: '/v1/approvals/{id}',
      summary: 'Show an approval with its decisions',
      description: 'Its requester, those who may decide on it, and those who may read its place may see it.',
      params,
      gate: { ...ofRow, anyOf: [decides, reads], probes },
      audit: { relation: 'approval.read', when: 'all', object: 'approval:{path.id}' },
      responses: { 200: Approval },
      problems: [],
      cli: { command: 'approvals show', args: ['id'], refs, columns: [...columns, ...details] },
    },
    ApproveApproval: {
      ...decision,
      path: '/v1/approvals/{id}/approve',
      summary: 'Approve a request of somebody else',
      description:
        'For people, with a browser session or a token that they made for themselves. The last approval that is needed carries the request out; where one of its checks fails then, nothing is changed and the request waits on.',
      body: ApprovalApproveRequest,
      audit: { relation: 'approval.approve', when: 'all', object: 'approval:{path.id}' },
      problems: ['self_approval_denied', 'illegal_transition', 'approval_stale'],
      cli: { command: 'approvals approve', args: ['id'], refs, columns, done: 'Approved {id}, which is {state} now.' },
    },
    RejectApproval: {
      ...decision,
      path: '/v1/approvals/{id}/reject',
      summary: 'Reject a request of somebody else, which ends it',
      description: 'For people, with a browser session or a token that they made for themselves.',
      body: ApprovalRejectRequest,
      audit: { relation: 'approval.reject', when: 'all', object: 'approval:{path.id}' },
      problems: ['self_approval_denied', 'illegal_transition'],
      cli: { command: 'approvals reject', args: ['id'], refs, columns, done: 'Rejected {id}.' },
    },
    WithdrawApproval: {
      ...common,
      method: 'POST',
      path: '/v1/approvals/{id}/withdraw',
      summary: 'Take a request of your own back',
      description: 'Only its requester may withdraw it, and only while it is pending.',
      params,
      gate: {
        ...ofRow,
        denial: { relation: 'requester', object: 'approval:{path.id}' },
        foldUnless: [decides, reads],
        probes,
      },
      audit: { relation: 'approval.withdraw', when: 'all', object: 'approval:{path.id}' },
      responses: { 200: Approval },
      problems: ['illegal_transition'],
      sentences: { illegal_transition: 'The approval has ended already.' },
      cli: { command: 'approvals withdraw', args: ['id'], refs, columns, confirm: 'yes', done: 'Withdrew {id}.' },
    },
  },
)
