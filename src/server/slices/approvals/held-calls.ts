import { createHash } from 'node:crypto'
import { isQueuedAction, type QueuedAction } from '../../../shared/approval-actions.ts'
import { canonicalize } from '../../../shared/canonical-json.ts'
import { isNonZeroUuid } from '../../../shared/ids.ts'
import { problem } from '../../../shared/problems.ts'
import type { ApprovalQueue } from '../../ports/approval-queue.ts'
import type { ApprovedRun, HeldCalls, SentCall } from '../../ports/held-calls.ts'
import type { SealedPlace, Sealing } from '../../ports/keyring.ts'
import { hasMirroredMembers } from '../../sql/mirrored-members.ts'
import { approvalsFor } from './policy.ts'
import { readPolicies } from './policy-store.ts'
import * as store from './held-store.ts'

/** The kind of approvals of held calls. */
export const HELD_CALL = 'held_call'

/** How long an approved call may be made, in ms. */
export const OPEN_MS = 24 * 60 * 60 * 1000

export interface HeldCallsDeps {
  readonly approvalQueue: Pick<ApprovalQueue, 'request'>
  readonly sealing: Sealing
}

/** Keeps held calls beside their approvals. */
export function createHeldCalls({ approvalQueue, sealing }: HeldCallsDeps): HeldCalls {
  return {
    async isHeld(db, action, domainId) {
      return isQueuedAction(action) && approvalsFor(await readPolicies(db, domainId), action) > 0
    },
    mostAsked: store.mostAsked,
    hasMirroredMembers,

    async hold(change, { sent, runs, operation, ...request }) {
      const action = queued(request.action)
      const asked = { ...request, action, operation, kind: HELD_CALL, projectId: null }
      const { id } = await approvalQueue.request(change, asked)
      const sealed = await sealing.seal(placeOf(id), Buffer.from(JSON.stringify(sent), 'utf8'))
      await store.insertHeldCall(change.db, { approval_id: id, operation, runs, digest: digestOf(sent), sealed })
      return id
    },

    async use({ db }, run) {
      const call = isNonZeroUuid(run.approvalId) ? await store.lockCall(db, run.approvalId) : undefined
      if (call === undefined || call.requested_by !== run.requestedBy) throw problem('approval_not_found')
      if (call.state === 'pending-approval') throw problem('approval_pending')
      if (!isOpenFor(call, run)) throw problem('approval_stale')
      await store.closeCall(db, run.approvalId, new Date(run.nowMs))
      const approvedBy = await store.approversIn(db, run.approvalId)
      return { id: run.approvalId, approvedBy, requestedAtMs: call.requested_at.getTime() }
    },
  }
}

/** Where the call of an approval is sealed. */
export function placeOf(approvalId: string): SealedPlace {
  return { table: 'held_calls', column: 'sealed', rowId: approvalId }
}

function queued(action: string): QueuedAction {
  if (!isQueuedAction(action)) throw new Error(`no approval can be asked for ${action}`)
  return action
}

/** Whether the approval is of that very call, and was not used. */
function isOpenFor(call: store.ApprovedCall, { operation, sent, nowMs }: ApprovedRun): boolean {
  const isFresh = call.ended_at !== null && call.ended_at.getTime() + OPEN_MS > nowMs
  const isSame = call.operation === operation && call.digest.equals(digestOf(sent))
  return call.state === 'approved' && call.made_at === null && isFresh && isSame
}

/** SHA-256 over method, path with query, and the body in canonical JSON. */
function digestOf({ method, url, body }: SentCall): Buffer {
  const content = body === '' ? '' : canonicalize(JSON.parse(body))
  return createHash('sha256').update([method, url, content].join('\n')).digest()
}
