import { EVENT_COUNTS } from '../../client/agent/counts.ts'

/** Counters of the mesh, from the agents' point of view. */
export const MESH_COUNTS = [
  /** State pulls with the answer 304. */
  'not_modified',
  /** State pulls that the server answered from its cache while its datastore was unavailable. */
  'degraded_pulls',
  /** Pulls that violate the specification: not canonical, peers out of order, the node among its own peers. */
  'bad_snapshots',
  /** Policies whose rules do not have the fingerprint that came with them. */
  'bad_policies',
  /** Entries of policies that the simulator does not understand. */
  'unknown_entries',
  /** Endpoints that agents reported with a changed address. */
  'endpoint_changes',
  'key_rotations',
  /** Requested rotations that were done already. */
  'needless_rotations',
  /** Rotations that the server has forgotten, because it was restored from a backup. */
  'undone_rotations',
  /** Comparisons of the keys that both ends hold for the same epoch. */
  'edges_compared',
  /** The ends of an edge derived different keys for one epoch. */
  'edge_mismatches',
  /** Envelopes that cannot be opened, or that name another node secret key than that of the call. */
  'bad_envelopes',
  /** Epochs older than the known one; agents refuse them. */
  'epoch_regressions',
  /** At the end: the ends of an edge hold different epochs. */
  'stale_edges',
  /** At the end: peers that an agent knows differently by events than by a pull. */
  'stale_peers',
  /** At the end: policies that an agent knows differently by events than by a pull. */
  'stale_policies',
  /** Configurations of bridges that hosts have applied. */
  'bridge_configs',
  /** Secrets that hosts fetched and opened. */
  'secrets_fetched',
  /** Configurations with lists out of order or of another form, and, at the end, those that differ from a pull. */
  'bad_bridge_configs',
  /** Changes of the bridges that the simulator made (`--bridges`). */
  'bridge_changes',
  /** At the end: hosts that do not run the server's configuration of each bridge with its newest secrets. */
  'bridge_drift',
  /** At the end: agents that were still busy and therefore not compared. */
  'unsettled',
  /** Those of them that pulled their state, and that rotated their keys. */
  'unsettled_pulling',
  'unsettled_rotating',
  'executions_succeeded',
  'executions_failed',
  /** At the end: reports that the server had refused for now and that were not sent again in time. */
  'unsent_reports',
  /** Executions of `upgrade_agent` with a version that succeeded, and that failed. */
  'upgrades',
  'upgrades_failed',
  /** At the end: agents that do not run the release that an agent was last asked to install. */
  'outdated',
  /** Accepted reports of integrity violations, repeated ones included. */
  'violations_reported',
  /** Executions and sessions that ended before the agent reported on them. */
  'overtaken',
  'sessions',
] as const

/** Counters of faults, both of the server and of a scenario. */
export const FAULT_COUNTS = [
  /** Calls that were repeated because the server was stopping or the connection broke. */
  'retries',
  /** Refusals that a fault of the scenario requires. */
  'expected_refusals',
  /** Faulty calls that the server accepted. */
  'unmet_faults',
  /** Errors during an outage of the scenario. */
  'outage_errors',
  /** Streams that stayed open for longer than a keep-alive after their key was revoked. */
  'unclosed_streams',
  /** Operations that this server does not provide; they are not called again. */
  'not_provisioned',
] as const

/** Counters of light agents. */
export const LIGHT_COUNTS = [
  /** Hints that list changed peers. */
  'hints',
  /** Changes that they brought, merged ones included. */
  'hinted_changes',
  /** Hints that brought more than one change. */
  'merged_hints',
  /** Endpoint changes that an open stream of the Domain did not receive within 90 s, by a hint or by a pull. */
  'undelivered_changes',
  /** Bytes of the bodies of pulled states, which are dropped. */
  'pulled_bytes',
] as const

/** All counters except those of calls. */
export const EXTRA_COUNTS = [...EVENT_COUNTS, ...MESH_COUNTS, ...FAULT_COUNTS, ...LIGHT_COUNTS] as const
export type ExtraCount = (typeof EXTRA_COUNTS)[number]
export type MeshCount = (typeof MESH_COUNTS)[number]
export type FaultCount = (typeof FAULT_COUNTS)[number]

/** Counters that a `--fail-on` condition can name. */
export const COUNTS = ['errors', 'refusals', 'heartbeats', 'registrations', 'operations', ...EXTRA_COUNTS] as const
