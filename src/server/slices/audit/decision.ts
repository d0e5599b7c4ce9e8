import type { AuditedDecision } from '../../../shared/audit/chain.ts'
import type { AuditRecord } from './store.ts'

/** The row as the API shows it; its hash covers the same bytes. */
export function decisionOf(row: AuditRecord): AuditedDecision & { readonly outcome: AuditRecord['outcome'] } {
  const { id, domain_id, subject, relation, object, outcome, reason, correlation_id, context } = row
  return {
    id,
    at: row.at.toISOString(),
    domain_id,
    subject,
    relation,
    object,
    outcome,
    reason,
    correlation_id,
    context,
  }
}
