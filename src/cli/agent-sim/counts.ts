/** What an agent does against the server, one histogram each; `stream` is until the head of a stream's answer is here. */
export const OPERATIONS = [
  'register',
  'heartbeat',
  'deregister',
  'stream',
  'endpoint',
  'capabilities',
  'state_pull',
  'edge_key',
  'key_rotation',
  'nsk_rotation',
  'nsk_revocation',
  'report',
  'report_deletion',
  'violations',
  'execution',
  'session',
] as const
export type SimulatedOperation = (typeof OPERATIONS)[number]

/** What is counted of event streams. */
export const EVENT_COUNTS = [
  /** Open now. */
  'streams',
  /** Genuine ones, each once. */
  'events',
  /** Left out and not come since, or never come although the server has them. */
  'missed_events',
  /** Of no published key, or not of the one that is named. */
  'bad_signatures',
  'duplicate_events',
  'reordered_events',
  /** That are no envelope, of another node, too large, or announced as what they are not. */
  'refused_frames',
  /** Events that say that more changed than is told. */
  'resyncs',
  'stream_reconnects',
  /** Whose end could not be compared with the server's. */
  'unconfirmed_streams',
] as const

/** What is counted of the mesh as the agents see it. */
export const MESH_COUNTS = [
  /** State pulls that were answered with "nothing has changed". */
  'not_modified',
  /** State pulls answered from memory while the server's datastore was away. */
  'degraded_pulls',
  /** Pulls that break a promise: not canonical, peers out of order, the node among its own peers. */
  'bad_snapshots',
  /** Endpoints that an agent reported under another address than before. */
  'endpoint_changes',
  'key_rotations',
  /** Asked for, and found to have been done already. */
  'needless_rotations',
  /** Both ends hold a key of the same epoch, and both were compared. */
  'edges_compared',
  /** The ends of an edge derived different keys for one epoch. */
  'edge_mismatches',
  /** Envelopes that do not open, or name another node secret key than the one that called. */
  'bad_envelopes',
  /** An older epoch was offered than was known: it was refused. */
  'epoch_regressions',
  /** At the end: the ends of an edge hold different epochs. */
  'stale_edges',
  /** At the end: peers of which an agent knows by events something else than a pull shows. */
  'stale_peers',
  /** At the end: agents that were still waiting for their turn, so that they were not compared. */
  'unsettled',
  'executions_succeeded',
  'executions_failed',
  /** Executions and sessions that were over before the agent could say something of them. */
  'overtaken',
  'sessions',
] as const

/** Counts of faults, those of the server and those that a scenario injects. */
export const FAULT_COUNTS = [
  /** Calls made again because the server was stopping or the connection broke. */
  'retries',
  /** Refusals that a fault of the scenario asks for. */
  'expected_refusals',
  /** Faults that the server let pass. */
  'unmet_faults',
  /** Errors while the scenario expects the server to be away. */
  'outage_errors',
  /** Streams that a revoked key kept open for longer than a keep-alive. */
  'unclosed_streams',
  /** Calls of a surface that this server does not have; such a surface is not asked for again. */
  'not_provisioned',
] as const

/** Everything that is counted beside the calls. */
export const EXTRA_COUNTS = [...EVENT_COUNTS, ...MESH_COUNTS, ...FAULT_COUNTS] as const
export type ExtraCount = (typeof EXTRA_COUNTS)[number]
export type EventCount = (typeof EVENT_COUNTS)[number]
export type MeshCount = (typeof MESH_COUNTS)[number]
export type FaultCount = (typeof FAULT_COUNTS)[number]

/** Counts that a condition may name. */
export const COUNTS = ['errors', 'refusals', 'heartbeats', 'registrations', 'operations', ...EXTRA_COUNTS] as const
