/** A deviation that a node reported. Kept when the node is deleted: the remedy is another node. */
export interface NodeIntegrityViolationRow {
  id: string
  node_id: string
  domain_id: string
  kind: 'binary' | 'hook' | 'host_key'
  artifact: string
  expected_checksum: Buffer | null
  observed_checksum: Buffer | null
  detected_at: Date
  accepted_at: Date
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    node_integrity_violations: NodeIntegrityViolationRow
  }
}
