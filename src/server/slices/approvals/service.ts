import type { approvals } from '../../../shared/contract/approvals.ts'
import { problem } from '../../../shared/problems.ts'
import { isOwnCredential } from '../../http/auth/own-credential.ts'
import { permissionDenied } from '../../http/auth/refusal.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { ApprovalKinds } from '../../ports/approval-kind.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { byIdDescending } from '../../sql/keyset.ts'
import { gateRow, referenceOf, toAnswer } from './approval.ts'
import { approversOf, createDecisions, type Deciding } from './decisions.ts'
import { createApprovalNames } from './names.ts'
import * as store from './store.ts'

export interface ApprovalsDeps {
  readonly datastore: Datastore
  /** Carry out what is decided. */
  readonly approvalKinds: ApprovalKinds
}

/** Serves the approvals queue, newest first (decisions: Approvals queue). */
export function createApprovals({ datastore, approvalKinds: kinds }: ApprovalsDeps): Handlers<typeof approvals> {
  const db = () => datastore.pool('interactive')
  const decisions = createDecisions({ kinds })

  /** The approval, once the gate of its row admits the caller: an unknown one, and one of strangers, are 404 alike. */
  async function admitTo(ctx: RequestContext, id: string): Promise<store.DecidedRecord> {
    const approval = await store.findApproval(db(), id)
    if (approval !== undefined) ctx.about(referenceOf(id), approval.domain_id)
    await ctx.admit(approval && gateRow(approval))
    if (approval === undefined) throw problem('approval_not_found')
    return approval
  }

  /** The approval once what follows from it has been done, which may have failed. */
  async function carriedOut(approval: store.DecidedRecord): Promise<store.DecidedRecord> {
    const kind = kinds.of(approval.kind)
    if (approval.state !== 'approved' || kind.approved === undefined) return approval
    await kind.approved(approval.id)
    return (await store.findApproval(db(), approval.id)) ?? approval
  }

  /** The approval as the caller sees it. */
  async function shown(ctx: RequestContext, approval: store.DecidedRecord): ReturnType<typeof toAnswer> {
    return toAnswer(approval, createApprovalNames(db(), await ctx.probe('platform')))
  }

  return {
    async ListApprovals(ctx, { state, kind, project_id: projectId, domain_id: domainId, role }) {
      const { subject } = ctx.caller
      const filter = {
        state,
        kind,
        projectId,
        domainId,
        requestedBy: role === 'requester' ? subject : undefined,
        notRequestedBy: role === 'decider' ? subject : undefined,
      }
      const names = createApprovalNames(db(), await ctx.probe('platform'))
      return listPage(ctx, (range) => store.listApprovals(db(), filter, range), {
        positionOf: byIdDescending.positionOf,
        visible: gateRow,
        matches: (approval) => role !== 'decider' || ctx.probe('decider', gateRow(approval)),
        toAnswer: (approval) => toAnswer(approval, names),
      })
    },

    async GetApproval(ctx, { id }) {
      return shown(ctx, await admitTo(ctx, id))
    },

    async ApproveApproval(ctx, { id, body }) {
      requirePerson(ctx, await admitTo(ctx, id))
      const decided = await ctx.change(async (change) =>
        noted(ctx, await decisions.approve(change, by(ctx, id, body.reason))),
      )
      return shown(ctx, await carriedOut(decided))
    },

    async RejectApproval(ctx, { id, body }) {
      requirePerson(ctx, await admitTo(ctx, id))
      const work = async (change: Change) => noted(ctx, await decisions.reject(change, by(ctx, id, body.reason)))
      return shown(ctx, await ctx.change(work))
    },

    async WithdrawApproval(ctx, { id }) {
      await admitTo(ctx, id)
      return shown(ctx, await ctx.change(async (change) => noted(ctx, await decisions.withdraw(change, by(ctx, id)))))
    },
  }
}

function by({ caller, nowMs, correlationId }: RequestContext, id: string, reason?: string): Deciding {
  return { id, subject: caller.subject, reason, nowMs, correlationId }
}

/** Adds what was decided to the audit row, which is written with the decision. */
function noted(ctx: RequestContext, approval: store.DecidedRecord): store.DecidedRecord {
  const { kind, object, state, required_approvals } = approval
  ctx.note({ kind, about: object, state, approvals: approversOf(approval).length, required_approvals })
  return approval
}

/**
 * Lets only somebody else decide, in person: with a browser session or a token that nobody else can have.
 *
 * @throws Problem `self_approval_denied` for the requester, whatever the credential; `permission_denied` for a service
 *   identity and for a credential that somebody else may have.
 */
function requirePerson({ caller }: RequestContext, approval: store.ApprovalRecord): void {
  const { subject, kind } = caller
  if (subject === approval.requested_by) throw problem('self_approval_denied')
  const missing = { subject, relation: approval.decide_relation, object: approval.decide_object }
  if (kind !== 'user') throw permissionDenied(missing, 'insufficient_relation', [])
  if (!isOwnCredential(caller)) throw permissionDenied(missing, 'out_of_scope', [])
}
