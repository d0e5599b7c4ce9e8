import { chainOf } from '../../../shared/audit/chain.ts'
import type { AuditRecord } from './store.ts'

/** Why rows are missing. */
export type GapReason = 'write_failed' | 'vanished'

/**
 * The row that records the loss in their chain (S0 convention 7): `write_failed` counts decisions whose row the datastore refused,
 * `vanished` rows that were written and disappeared before they were sealed.
 */
export function gapRow(
  { id, at, domainId }: { readonly id: string; readonly at: Date; readonly domainId: string | null },
  reason: GapReason,
  count: number,
): AuditRecord {
  return {
    id,
    at,
    domain_id: domainId,
    subject: 'system:audit-sealer',
    relation: 'audit.gap',
    object: chainOf(domainId),
    outcome: 'internal_error',
    reason,
    correlation_id: id,
    context: { count },
  }
}
