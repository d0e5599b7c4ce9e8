import type { ServiceRelation } from '../../../shared/contract/audit-relations.ts'
import type { ApprovalKinds } from '../../ports/approval-kind.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { LeaderJob, Leading } from '../../ports/leadership.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { decidedApproval, payloadOf, referenceOf, SYSTEM } from './approval.ts'
import { approversOf } from './decisions.ts'
import * as store from './store.ts'

export interface ApprovalExpiryDeps {
  readonly approvalKinds: ApprovalKinds
  readonly clock: Clock
  readonly ids: IdSource
}

const EVERY_MS = 30_000
/** Approvals that one pass ends, each in its own transaction. */
const PASS_MAX = 100
const RELATION: ServiceRelation = 'approval.expire'

/** The job that ends requests that nobody decided in time. One that cannot be ended does not hold up the others. */
export function createApprovalExpiry({ approvalKinds, clock, ids }: ApprovalExpiryDeps): LeaderJob {
  return {
    name: 'approval-expiry',
    everyMs: EVERY_MS,
    async run(leading) {
      const now = new Date(clock.now())
      const seen: string[] = []
      const errors: unknown[] = []
      while (seen.length < PASS_MAX && !leading.signal.aborted) {
        const before = seen.length
        await expireNext(leading, { kinds: approvalKinds, now, correlationId: ids.next(), seen }).catch(
          (error: unknown) => errors.push(error),
        )
        if (seen.length === before) break
      }
      if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors, 'approvals stay open')
      return seen.length === PASS_MAX
    },
  }
}

interface Expiring {
  readonly kinds: ApprovalKinds
  readonly now: Date
  readonly correlationId: string
  /** Those that this pass has taken; the next one is added. */
  readonly seen: string[]
}

async function expireNext(leading: Leading, { kinds, now, correlationId, seen }: Expiring): Promise<void> {
  const except = [...seen]
  await leading.unitOfWork.run({ pool: 'worker', correlationId }, async (change) => {
    const approval = await store.lockExpired(change.db, { now, except })
    if (approval === undefined) return
    seen.splice(except.length, Infinity, approval.id)
    const view = decidedApproval(approval, { approvedBy: approversOf(approval), nowMs: now.getTime(), correlationId })
    await kinds.of(approval.kind).end(change, view, 'expired')
    await store.endApprovals(change.db, [approval.id], { state: 'expired', at: now })
    announce(change, approval)
  })
}

function announce(change: Change, approval: store.ApprovalRecord): void {
  const { id, domain_id: domainId, kind, object } = approval
  const aggregate = referenceOf(id)
  change.emit({ event: 'ApprovalExpired', domainId, aggregate, payload: payloadOf(approval) })
  change.audit({
    domainId,
    subject: SYSTEM,
    relation: RELATION,
    object: aggregate,
    outcome: 'granted',
    reason: 'granted',
    context: { kind, about: object },
  })
}
