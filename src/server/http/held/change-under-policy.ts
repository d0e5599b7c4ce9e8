import type { HeldFor, SentCall, UsedApproval } from '../../ports/held-calls.ts'
import type { AuditEntry, Change } from '../../ports/unit-of-work.ts'
import type { Question } from '../auth/leg-questions.ts'
import { declaredHolds, findHold, type HoldingPorts, type MadeCall } from './find-hold.ts'
import { HeldResponse } from './held-response.ts'
import { watchTuples } from './watched-tuples.ts'

/** A request whose change may have to wait for an approval. */
export interface HoldableRequest extends Omit<MadeCall, 'declared'> {
  /** The gate that the caller has passed. */
  passed(): Question
  domainOf(object: string): Promise<string | null>
  readonly subject: string
  readonly correlationId: string
  /** The approval under which the request is made; undefined where it names none. */
  readonly approvalId: string | undefined
  /** One sentence on the call, which waits for the object. */
  summary(object: string): string
  sent(): SentCall
  note(context: Readonly<Record<string, unknown>>): void
  /** Takes the approval under which the change is made. */
  used(approval: UsedApproval): void
  /** Runs a change in a transaction with these audit rows; by default with that of the request. */
  run<T>(work: (change: Change) => Promise<T>, audit?: () => readonly AuditEntry[]): Promise<T>
}

/** Undoes a change whose call has to wait. */
class Hold extends Error {
  override readonly name = 'Hold'
  readonly heldFor: HeldFor

  constructor(heldFor: HeldFor) {
    super(`held for ${heldFor.action}`)
    this.heldFor = heldFor
  }
}

/**
 * Makes the change of a request, unless an approval policy holds its call. A held call is made to find every refusal of it,
 * undone, and kept for the decision of others. A call under an approval uses the approval up in its own transaction.
 *
 * @throws HeldResponse where the call waits now. Problem `approval_pending`, `approval_not_found`, `approval_stale`.
 */
export async function changeUnderPolicy<T>(
  ports: HoldingPorts,
  request: HoldableRequest,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  const { approvalId } = request
  if (approvalId !== undefined) {
    return request.run(async (change) => {
      await useApproval(ports, { ...request, approvalId }, change)
      return work(change)
    })
  }
  const declared = await declaredHolds(
    request.plan,
    () => request.passed(),
    (object) => request.domainOf(object),
  )
  try {
    return await request.run(async (change) => {
      const watched = watchTuples(change)
      const result = await work(watched.change)
      const heldFor = await findHold(ports, { ...request, declared }, { change, written: watched.written })
      if (heldFor !== undefined) throw new Hold(heldFor)
      return result
    })
  } catch (error) {
    if (!(error instanceof Hold)) throw error
    throw new HeldResponse(await keep(ports, request, error.heldFor))
  }
}

async function useApproval(
  { heldCalls }: HoldingPorts,
  request: HoldableRequest & { readonly approvalId: string },
  change: Change,
): Promise<void> {
  const { approvalId, plan, subject: requestedBy, nowMs } = request
  const run = { approvalId, operation: plan.id, requestedBy, sent: request.sent(), nowMs }
  const used = await heldCalls.use(change, run)
  request.used(used)
  request.note({ approval_id: approvalId, approved_by: used.approvedBy })
}

/** Adds the call to the approvals queue. Its audit row is that of the request for an approval: nothing else was done. */
async function keep({ heldCalls }: HoldingPorts, request: HoldableRequest, heldFor: HeldFor): Promise<string> {
  const { plan, subject: requestedBy, nowMs, correlationId } = request
  const { relation, resource } = request.passed()
  const call = {
    ...heldFor,
    operation: plan.id,
    summary: request.summary(heldFor.object),
    decide: { relation, object: resource },
    requestedBy,
    runs: plan.operation.dualControl?.runs ?? 'server',
    sent: request.sent(),
    nowMs,
  }
  let approvalId = ''
  const row = (): AuditEntry => ({
    domainId: heldFor.domainId,
    subject: requestedBy,
    relation: 'approval.request',
    object: heldFor.object,
    outcome: 'granted',
    reason: 'granted',
    correlationId,
    context: { approval_id: approvalId, operation: plan.id, action: heldFor.action },
  })
  await request.run(
    async (change) => {
      approvalId = await heldCalls.hold(change, call)
    },
    () => [row()],
  )
  return approvalId
}
