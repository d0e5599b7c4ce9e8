import type { Problem } from '../../shared/problems.ts'
import type { ActiveRequest } from './active-request.ts'
import { createAnonymousFailures } from './anonymous-failures.ts'
import type { AuditQueue } from './audit-queue.ts'
import { failureRow } from './audit-rows.ts'

/** Leaves the audit rows of requests, each where it belongs (decisions: Audit). */
export interface AuditTrail {
  /** Queues the row of a success, unless the change has carried it. */
  succeeded(active: ActiveRequest): void
  /** Writes the row of a denial, to be awaited; queues that of any other failure. */
  failed(active: ActiveRequest, error: unknown, answer: Problem): Promise<void> | undefined
  /** Hands over what was gathered of anonymous failures. */
  flush(): void
}

/** Makes the trail over the queue. */
export function createAuditTrail({ audit }: { readonly audit: AuditQueue }): AuditTrail {
  const anonymous = createAnonymousFailures((entry) => audit.add(entry))
  /** Whoever calls too often must not fill the log either: one row for each caller and minute. */
  const limited = createAnonymousFailures((entry) => audit.add(entry))

  return {
    succeeded(active) {
      if (active.audited) return
      const row = active.grantedRow()
      if (row !== undefined) audit.add(row)
    },
    failed(active, error, answer) {
      const subject = active.auditSubject()
      const row = failureRow(subject, error, answer)
      if (row === undefined) return undefined
      if (answer.status === 429 && active.knownCaller !== undefined) {
        limited.count(active.knownCaller.subject, row.relation, () => row)
        return undefined
      }
      if (active.knownCaller === undefined) {
        const entry = { ...row, context: { ...row.context, source_address: active.sourceAddress } }
        // What the handler has found out is no caller's to choose: a refusal about it is told apart from others.
        const kind = subject.about === undefined ? row.relation : `${row.relation} ${subject.about.object}`
        anonymous.count(active.sourceAddress, kind, () => entry)
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
