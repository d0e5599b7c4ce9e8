import { z } from 'zod'
import { LOOSENING } from '../approval-actions.ts'
import { ApprovalPolicy, DomainApprovalPolicyRequest, PlatformApprovalPolicyRequest } from './approval-schemas.ts'
import { heldFor } from './held-calls.ts'
import { check, defineSurface, OPERATOR } from './operation.ts'
import { KiB, uuidField } from './fields.ts'

const params = z.strictObject({ id: uuidField('invalid_domain_id', 'Domain') })
const common = {
  credentials: OPERATOR,
  responses: { 200: ApprovalPolicy },
  notProvisioned: 'approvals_not_provisioned',
} as const
const read = { relation: 'approval_policy.read', when: 'all' } as const
const columns = ['action', 'required_approvals', 'source']
const DESCRIPTION =
  'Replaces the policy. One that asks for fewer approvals waits for as many as the old one asked for. Refused where fewer people who hold manage here can act than the largest number of approvals asked for, and one more: one of them may be the requester.'

export const approvalPolicies = defineSurface(
  'approval-policies',
  {
    summary: 'Which actions wait for approval, and by how many people',
    nouns: { 'approval-policies': { files: 'managed' } },
  },
  {
    GetDomainApprovalPolicy: {
      ...common,
      method: 'GET',
      path: '/v1/domains/{id}/approval-policy',
      summary: 'Show which actions in a Domain wait for approval',
      description: 'With what the policy of the platform requires beside it: the stricter one holds.',
      params,
      gate: check('read', 'domain:{path.id}'),
      audit: read,
      problems: ['domain_not_found'],
      cli: { command: 'approvals policy show', refs: { id: 'domains' }, rows: 'effective', columns },
    },
    PutDomainApprovalPolicy: {
      ...common,
      method: 'PUT',
      path: '/v1/domains/{id}/approval-policy',
      summary: 'Say which actions in a Domain wait for approval',
      description: `${DESCRIPTION} It cannot ask for fewer approvals than the policy of the platform.`,
      params,
      body: DomainApprovalPolicyRequest,
      bodyBytesMax: 8 * KiB,
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'approval_policy.update', when: 'all' },
      dualControl: heldFor('Loosen the approval policy of domain:{path.id}', LOOSENING),
      problems: ['domain_not_found', 'too_few_approvers'],
      cli: { command: 'approvals policy set', refs: { id: 'domains' }, rows: 'effective', columns },
    },
    GetPlatformApprovalPolicy: {
      ...common,
      method: 'GET',
      path: '/v1/platform/approval-policy',
      summary: 'Show which actions wait for approval everywhere',
      description: 'A Domain may require more, never less.',
      gate: check('read', 'platform:main'),
      audit: { ...read, relation: 'platform_approval_policy.read' },
      problems: [],
    },
    PutPlatformApprovalPolicy: {
      ...common,
      method: 'PUT',
      path: '/v1/platform/approval-policy',
      summary: 'Say which actions wait for approval everywhere',
      description: DESCRIPTION,
      body: PlatformApprovalPolicyRequest,
      bodyBytesMax: 8 * KiB,
      gate: check('manage', 'platform:main'),
      audit: { relation: 'platform_approval_policy.update', when: 'all' },
      dualControl: heldFor('Loosen the approval policy of the platform', LOOSENING),
      problems: ['too_few_approvers'],
    },
  },
)
