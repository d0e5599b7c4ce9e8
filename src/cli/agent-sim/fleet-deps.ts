import type { AgentClock } from '../../client/agent/agent-clock.ts'
import type { ApiClient } from '../../client/agent/agent-deps.ts'
import type { NodeStreams } from '../../client/agent/events/node-streams.ts'
import type { Statistics } from './statistics.ts'

/** Dependencies of all parts of a simulated fleet. */
export interface FleetDeps {
  readonly client: ApiClient
  readonly statistics: Statistics
  readonly clock: AgentClock
  /** Undefined with `--no-events`. */
  readonly streams: NodeStreams | undefined
}
