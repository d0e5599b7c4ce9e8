import type { Problem } from '../../../shared/problems.ts'
import type { ActiveRequest } from '../active-request.ts'
import type { AuditQueue } from './audit-queue.ts'
import { failureRow } from './audit-rows.ts'
import { createFailureRows } from './failure-rows.ts'
import { networkOf } from '../limits/rate-limits.ts'

/** Routes the audit rows of requests (decisions: Audit). */
export interface AuditTrail {
  /** Queues the row of a success, unless the change has carried it. */
  succeeded(active: ActiveRequest): void
  /** Writes the row of a denial, to be awaited; queues that of any other failure. */
  failed(active: ActiveRequest, error: unknown, answer: Problem): Promise<void> | undefined
  /** Queues the counts of failures without their own row. */
  flush(): void
}

/** Makes the trail over the queue. */
export function createAuditTrail({ audit }: { readonly audit: AuditQueue }): AuditTrail {
  /** By address, those of an IPv6 network together. */
  const anonymous = createFailureRows((entry) => audit.add(entry))
  /** By caller: requests refused by a rate limit. */
  const limited = createFailureRows((entry) => audit.add(entry))

  return {
    succeeded(active) {
      if (active.audit.isCarried) return
      const row = active.audit.grantedRow()
      if (row !== undefined) audit.add(row)
    },
    failed(active, error, answer) {
      const subject = active.audit.subject()
      const row = failureRow(subject, error, answer)
      if (row === undefined) return undefined
      if (answer.status === 429 && active.knownCaller !== undefined) {
        limited.add(active.knownCaller.subject, row.relation, row)
        return undefined
      }
      if (active.knownCaller === undefined) {
        const entry = { ...row, context: { ...row.context, source_address: active.sourceAddress } }
        // A caller cannot choose what the handler found, so refusals about it are counted separately.
        const kind = [row.relation, row.reason, subject.about?.object ?? ''].join(' ')
        anonymous.add(networkOf(active.sourceAddress), kind, entry)
        return undefined
      }
      if (row.outcome === 'permission_denied') return audit.write(row)
      audit.add(row)
      return undefined
    },
    flush() {
      anonymous.flush()
      limited.flush()
    },
  }
}
