import type { ApprovalAction } from '../../../shared/approval-actions.ts'
import type { approvalPolicies } from '../../../shared/contract/approval-policies.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { LOOSENING } from '../../../shared/approval-actions.ts'
import { PLATFORM } from '../../../shared/ids.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { AuthzLookups } from '../../ports/authz-lookups.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { holdDomain } from '../../sql/hold-domain.ts'
import { countActingPeople } from './people-store.ts'
import { approvalsToLoosen, belowPlatform, mostApprovals, requirementsIn, ttlOf } from './policy.ts'
import { lockPolicies, readPolicies, writePolicy, type Policies, type PolicyRecord } from './policy-store.ts'
import type { PolicyActions } from './tables.ts'

export interface ApprovalPoliciesDeps {
  readonly datastore: Datastore
  readonly lookups: AuthzLookups
}

type Answer = Result<(typeof approvalPolicies)['operations']['GetDomainApprovalPolicy']>

/** A policy as somebody sets it. */
interface Wanted {
  readonly actions: { readonly [Action in ApprovalAction]?: { readonly required_approvals: number } | undefined }
  readonly ttl_seconds?: number | undefined
}

const NO_FACTS: ReadonlySet<string> = new Set()

/** Serves the policies of Domains and of the platform (decisions: Held operations). */
export function createApprovalPolicies(deps: ApprovalPoliciesDeps): Handlers<typeof approvalPolicies> {
  const { datastore } = deps

  const read = async (domainId: string | null): Promise<Answer> =>
    toAnswer(domainId, await readPolicies(datastore.pool('interactive'), domainId))

  async function put(ctx: RequestContext, domainId: string | null, wanted: Wanted): Promise<Answer> {
    const policy = recordOf(ctx, domainId, wanted)
    const { actions, ttl_seconds } = policy
    await requireApprovers(deps, ctx, { domainId, needed: mostApprovals(actions) })
    return ctx.change(async (change) => {
      if (domainId !== null && !(await holdDomain(change.db, domainId))) throw problem('domain_not_found')
      await lockPolicies(change.db)
      const before = await readPolicies(change.db, domainId)
      if (domainId !== null) requireStrict(actions, before.platform?.actions ?? {})
      assertUnchanged(ctx, domainId === null ? before.platform : before.domain)
      holdLoosening(ctx, approvalsToLoosen(domainId, before, actions), domainId)
      await writePolicy(change.db, policy)
      const aggregate = domainId === null ? PLATFORM : `domain:${domainId}`
      change.emit({ event: 'ApprovalPolicyUpdated', domainId, aggregate, payload: { actions, ttl_seconds } })
      ctx.note({ actions: Object.keys(actions) })
      return toAnswer(domainId, await readPolicies(change.db, domainId))
    })
  }

  return {
    GetDomainApprovalPolicy: (_, { id }) => read(id),
    PutDomainApprovalPolicy: (ctx, { id, body }) => put(ctx, id, body),
    GetPlatformApprovalPolicy: () => read(null),
    PutPlatformApprovalPolicy: (ctx, { body }) => put(ctx, null, body),
  }
}

/**
 * An approved policy replaces the one that its request saw: what was set since has not been approved.
 * @throws Problem `approval_stale`
 */
function assertUnchanged({ approval }: RequestContext, current: PolicyRecord | undefined): void {
  const isChanged = approval !== undefined && (current?.updated_at.getTime() ?? 0) >= approval.requestedAtMs
  if (isChanged) throw problem('approval_stale')
}

/** A policy that asks for less waits for as many approvals as the old one asked for what it loosens. */
function holdLoosening(ctx: RequestContext, requiredApprovals: number, domainId: string | null): void {
  const object = domainId === null ? PLATFORM : `domain:${domainId}`
  if (requiredApprovals > 0) ctx.heldAs({ action: LOOSENING, object, domainId, requiredApprovals })
}

/**
 * Requires that one person more than a request needs can decide, since one of them may be the requester. Those are counted
 * who hold `manage` on the Domain or the platform without a condition and may sign in: they decide on held operations,
 * and on loosening the policy.
 *
 * @throws Problem `too_few_approvers`
 */
async function requireApprovers(
  { datastore, lookups }: ApprovalPoliciesDeps,
  { nowMs }: RequestContext,
  { domainId, needed }: { readonly domainId: string | null; readonly needed: number },
): Promise<void> {
  if (needed === 0) return
  const subjects = await lookups.subjects({
    subjectType: 'user',
    relation: 'manage',
    resource: domainId === null ? PLATFORM : `domain:${domainId}`,
    facts: { nowMs },
    allowedFacts: NO_FACTS,
  })
  const approvers = await countActingPeople(datastore.pool('interactive'), subjects)
  if (approvers < needed + 1) throw problem('too_few_approvers', { approvers, needed: needed + 1 })
}

/** @throws Problem `invalid_body`, which names the actions for which the platform asks for more. */
function requireStrict(actions: PolicyActions, platform: PolicyActions): void {
  const errors = belowPlatform(actions, platform).map(({ action, required_approvals: required }) => ({
    pointer: `/actions/${action}/required_approvals`,
    detail: `must be at least ${required}, as the policy of the platform asks for`,
  }))
  if (errors.length > 0) throw problem('invalid_body', { errors })
}

/** The actions that are named: JSON has no undefined members. */
function namedIn({ actions }: Wanted): PolicyActions {
  return Object.fromEntries(Object.entries(actions).filter(([, requirement]) => requirement !== undefined))
}

function recordOf({ caller, nowMs }: RequestContext, domainId: string | null, wanted: Wanted): PolicyRecord {
  return {
    domain_id: domainId,
    actions: namedIn(wanted),
    ttl_seconds: wanted.ttl_seconds ?? null,
    updated_by: caller.subject,
    updated_at: new Date(nowMs),
  }
}

function toAnswer(domainId: string | null, policies: Policies): Answer {
  const own = domainId === null ? policies.platform : policies.domain
  return {
    actions: own?.actions ?? {},
    ...(typeof own?.ttl_seconds === 'number' && { ttl_seconds: own.ttl_seconds }),
    effective_ttl_seconds: ttlOf(policies),
    effective: requirementsIn(domainId, policies),
    ...(own !== undefined && { updated_by: own.updated_by, updated_at: own.updated_at.toISOString() }),
  }
}
