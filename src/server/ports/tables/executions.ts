/** Tables of what nodes are asked to do. */
export interface ExecutionsTables {
  executions: ExecutionRow
  mediated_sessions: MediatedSessionRow
}

interface ExecutionRow {
  id: string
  node_id: string
  domain_id: string
  action: string
  type: 'builtin' | 'hook'
  /** Canonical JSON of an object. */
  parameters: string | null
  status: 'pending' | 'ack' | 'started' | 'succeeded' | 'failed' | 'cancelled' | 'timeout'
  requested_by: string
  requested_at: Date
  expires_at: Date
  started_at: Date | null
  /** Set exactly when the status is an end. */
  finished_at: Date | null
  exit_code: number | null
  output: string | null
  error: string | null
}

/** A way through a node. Live while it is neither revoked nor ended; a sweeper ends it at `expires_at`. */
interface MediatedSessionRow {
  id: string
  domain_id: string
  project_id: string
  node_id: string
  kind: 'ssh' | 'cluster_api' | 'tcp'
  target: string
  issued_by: string
  issued_at: Date
  expires_at: Date
  idle_timeout_seconds: number | null
  last_active_at: Date | null
  revoked_at: Date | null
  ended_at: Date | null
}
