import { z } from 'zod'
import {
  APPROVAL_ACTIONS,
  APPROVAL_TTL_SECONDS,
  PLATFORM_ACTIONS,
  QUEUED_ACTIONS,
  REQUIRED_APPROVALS_MAX,
  type ApprovalAction,
} from '../approval-actions.ts'
import { DecisionReason, InDomain, InProject, Instant, OwnId, UpdatedAt } from './fields.ts'

/** The states of an approval: one that waits, then one that is final. */
export const APPROVAL_STATES = ['pending-approval', 'approved', 'rejected', 'withdrawn', 'expired', 'failed'] as const

export type ApprovalState = (typeof APPROVAL_STATES)[number]

const ShownTo = z.string().nullable()
const NO_NAME = 'null where it is gone, or is not yours to read'

const ApprovalDecision = z
  .object({
    subject: z.string().describe('Who decided, user:<uuid>'),
    subject_name: ShownTo.describe(`Name of who decided as it is now; ${NO_NAME}`),
    decision: z.enum(['approve', 'reject']).describe('What was decided'),
    reason: z.string().optional().describe('Why, in the words of the person who decided'),
    at: Instant.describe('When it was decided'),
  })
  .meta({ id: 'ApprovalDecision', description: 'The decision of one person.' })

/** What waits for the decision of others, or had one. */
export const Approval = z
  .object({
    id: OwnId,
    kind: z.string().describe('What is asked for, e.g. credential_assignment'),
    object: z.string().describe('<type>:<id> of what the decision is about'),
    domain_id: InDomain.optional(),
    project_id: InProject.optional(),
    state: z.enum(APPROVAL_STATES).describe('`pending-approval` waits for decisions; every other state is final'),
    requested_by: z.string().describe('The subject that asks. It never decides'),
    requested_by_name: ShownTo.describe(`Name of the subject that asks as it is now; ${NO_NAME}`),
    requested_at: Instant.describe('When it was requested'),
    expires_at: Instant.describe('When the request ends without a decision'),
    reason: z.string().optional().describe('Why it is asked for'),
    required_approvals: z.int().describe('People who have to approve; one rejection ends the request'),
    decisions: z.array(ApprovalDecision).describe('In the order in which they were taken'),
    action: z
      .object({
        name: z.enum(QUEUED_ACTIONS).describe('The action that a policy names'),
        operation: z.string().describe('The operation that made the request'),
        summary: z
          .string()
          .describe('What approving it does, in one sentence, with ids and all members of the request'),
        sentence: z
          .string()
          .describe(
            'The same with names as they are now. Users and service identities have the end of their id beside the name; what has no name, or none that you may read, keeps its id',
          ),
      })
      .describe('What happens on approval'),
    outcome: z.string().optional().describe('Why it failed after it was approved: a problem code'),
  })
  .meta({ id: 'Approval', description: 'A request that waits for the decision of others, or had one.' })

export const ApprovalApproveRequest = z
  .strictObject({ reason: DecisionReason.optional().describe('Why; everybody who sees the approval reads it') })
  .meta({ id: 'ApprovalApproveRequest', description: 'An approval of a request, perhaps with a reason.' })

export const ApprovalRejectRequest = z
  .strictObject({ reason: DecisionReason.describe('Why; the requester reads it') })
  .meta({ id: 'ApprovalRejectRequest', description: 'A rejection of a request, with its reason.' })

const Required = z
  .strictObject({
    required_approvals: z
      .int()
      .min(1)
      .max(REQUIRED_APPROVALS_MAX)
      .describe(`People who have to approve, 1 to ${REQUIRED_APPROVALS_MAX}, beside the requester`),
  })
  .meta({ id: 'ApprovalRequirement', description: 'How many people have to approve an action.' })

/** The actions that the policy of a Domain may name. */
export const DOMAIN_ACTIONS: readonly ApprovalAction[] = APPROVAL_ACTIONS.filter(
  (action) => !PLATFORM_ACTIONS.includes(action),
)

function updateRequest(id: string, actions: readonly ApprovalAction[]) {
  const members = Object.fromEntries(actions.map((action) => [action, Required.optional()]))
  return z
    .strictObject({
      // The keys are actions: `fromEntries` cannot say so. An action that is not among them is refused, so reads as absent.
      actions: z
        .strictObject(members as Record<ApprovalAction, z.ZodOptional<typeof Required>>)
        .describe('The actions that wait for approval, each with the people who have to approve it'),
      ttl_seconds: z
        .int()
        .min(APPROVAL_TTL_SECONDS.min)
        .max(APPROVAL_TTL_SECONDS.max)
        .optional()
        .describe('How long a request waits, 1 hour to 30 days; as the platform says, or 7 days, when absent'),
    })
    .meta({ id, description: 'The actions that wait for approval from now on; those that are absent do not wait.' })
}

export const DomainApprovalPolicyRequest = updateRequest('DomainApprovalPolicyRequest', DOMAIN_ACTIONS)
export const PlatformApprovalPolicyRequest = updateRequest('PlatformApprovalPolicyRequest', APPROVAL_ACTIONS)

/** The policy of a Domain or of the platform, and what follows from it. */
export const ApprovalPolicy = z
  .object({
    actions: z
      .record(
        z.string(),
        z.object({ required_approvals: z.int().describe('People who have to approve, beside the requester') }),
      )
      .describe('The actions that this policy itself names'),
    ttl_seconds: z.int().optional().describe('How long a request waits; absent where this policy does not set it'),
    effective_ttl_seconds: z.int().describe('How long a request waits here'),
    effective: z
      .array(
        z.object({
          action: z.enum(APPROVAL_ACTIONS).describe('The action, as policies name it'),
          required_approvals: z.int().describe('0: the action does not wait for approval'),
          source: z.enum(['domain', 'platform', 'default']).describe('The policy that requires it'),
        }),
      )
      .describe('What holds here for each action: the stricter of the policies of the Domain and of the platform'),
    updated_by: z.string().optional().describe('Absent where nobody has set this policy'),
    updated_at: UpdatedAt.optional(),
  })
  .meta({ id: 'ApprovalPolicy', description: 'The actions that wait for approval, as set here and as they hold here.' })
