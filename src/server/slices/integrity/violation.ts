import type { integrity } from '../../../shared/contract/integrity.ts'
import type { Answer } from '../../../shared/contract/operation-types.ts'
import type { StoredViolation } from './store.ts'

/** The violation as the API shows it. */
export function toAnswer(stored: StoredViolation): Answer<(typeof integrity)['operations']['GetIntegrityViolation']> {
  const { id, node_id, node_name, domain_id, project_id, kind, status, artifact_id, artifact } = stored
  const { acknowledged_by_subject, acknowledge_reason } = stored
  return {
    id,
    node_id,
    node_name,
    domain_id,
    project_id,
    kind,
    status,
    artifact_id,
    artifact,
    expected_checksum: hexOf(stored.expected_checksum),
    observed_checksum: hexOf(stored.observed_checksum),
    detected_at: stored.detected_at.toISOString(),
    reported_at: stored.accepted_at.toISOString(),
    last_detected_at: stored.last_detected_at.toISOString(),
    occurrences: Number(stored.occurrences),
    acknowledged_at: instantOf(stored.acknowledged_at),
    acknowledged_by_subject,
    acknowledge_reason,
    resolved_at: instantOf(stored.resolved_at),
  }
}

/** The violation as the aggregate of events and the object of audit rows. */
export function violationReference(id: string): string {
  return `integrity_violation:${id}`
}

function hexOf(checksum: Buffer | null): string | null {
  return checksum?.toString('hex') ?? null
}

function instantOf(at: Date | null): string | null {
  return at?.toISOString() ?? null
}
