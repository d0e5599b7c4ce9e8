import type { Generated } from 'kysely'

/** Tables of integrity violations. */
export interface IntegrityTables {
  node_integrity_violations: NodeIntegrityViolationRow
  integrity_artifacts: IntegrityArtifactRow
}

/**
 * A deviation that a node reported, with all reports of it until it was resolved. Kept when the node is deleted: the remedy
 * is another node.
 */
export interface NodeIntegrityViolationRow {
  id: string
  node_id: string
  domain_id: string
  /** Project of the node at the first report. */
  project_id: string | null
  kind: 'binary' | 'hook' | 'host_key'
  artifact: string
  artifact_id: string
  expected_checksum: Buffer | null
  observed_checksum: Buffer | null
  status: Generated<'open' | 'acknowledged' | 'resolved'>
  /** Reports since it was opened. */
  occurrences: Generated<string>
  /** By the clock of the node, as is `last_detected_at`. */
  detected_at: Date
  last_detected_at: Date
  /** When the first report was accepted, by which lists are ordered. */
  accepted_at: Date
  last_accepted_at: Date
  acknowledged_at: Date | null
  acknowledged_by_subject: string | null
  acknowledge_reason: string | null
  resolved_at: Date | null
}

/** One artifact of a Domain, on whichever nodes it is. */
interface IntegrityArtifactRow {
  id: string
  domain_id: string
  kind: string
  artifact: string
}
