/** Counters of event streams. */
export const EVENT_COUNTS = [
  /** Open now. */
  'streams',
  /** Verified events, each counted once. */
  'events',
  /** Events that are missing in a stream, or that the server has and did not send. */
  'missed_events',
  /** Signed with no published key, or not with the named one. */
  'bad_signatures',
  'duplicate_events',
  'reordered_events',
  /** Frames without an envelope, for another node, too large, or with a wrong event type. */
  'refused_frames',
  /** Events that ask for a pull because they do not list all changes. */
  'resyncs',
  'stream_reconnects',
  /** Streams whose last event could not be compared with the server's. */
  'unconfirmed_streams',
] as const
export type EventCount = (typeof EVENT_COUNTS)[number]

/** What an agent counts. */
export type AgentCount =
  | EventCount
  /** State pulls with the answer 304. */
  | 'not_modified'
  /** State pulls that the server answered from its cache while its datastore was unavailable. */
  | 'degraded_pulls'
  /** Pulls that violate the specification: not canonical, peers out of order, the node among its own peers. */
  | 'bad_snapshots'
  /** Policies whose rules do not have the fingerprint that came with them. */
  | 'bad_policies'
  /** Entries of policies that the agent does not understand. */
  | 'unknown_entries'
  | 'key_rotations'
  /** Requested rotations that were done already. */
  | 'needless_rotations'
  /** Envelopes that cannot be opened, or that name another node secret key than that of the call. */
  | 'bad_envelopes'
  /** Rotations that the server has forgotten, because it was restored from a backup. An operator has to request them again. */
  | 'undone_rotations'
  /** Epochs older than the known one; agents refuse them. */
  | 'epoch_regressions'
  /** Configurations of bridges that hosts have applied. */
  | 'bridge_configs'
  /** Secrets that hosts fetched and opened. */
  | 'secrets_fetched'
  /** Configurations with lists out of order or of another form. */
  | 'bad_bridge_configs'
  | 'executions_succeeded'
  | 'executions_failed'
  /** Executions and sessions that ended before the agent reported on them. */
  | 'overtaken'
  /** Calls that were repeated because the server was stopping or the connection broke. */
  | 'retries'
  /** Refusals that a fault of a scenario requires. */
  | 'expected_refusals'
  /** Faulty calls that the server accepted. */
  | 'unmet_faults'
  /** Operations that this server does not provide; they are not called again. */
  | 'not_provisioned'
