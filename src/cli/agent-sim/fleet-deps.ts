import type { Client } from '../../client/client.ts'
import type { contract } from '../../shared/contract/index.ts'
import type { NodeStreams } from './node-streams.ts'
import type { Statistics } from './statistics.ts'

export type ApiClient = Client<typeof contract>

/** Dependencies of all parts of a simulated fleet. */
export interface FleetDeps {
  readonly client: ApiClient
  readonly statistics: Statistics
  readonly clock: AgentClock
  /** Undefined with `--no-events`. */
  readonly streams: NodeStreams | undefined
}

/** Time and randomness of the agents. */
export interface AgentClock {
  /** Milliseconds since the Unix epoch; agents report it as their own clock. */
  now(): number
  /** In [0, 1). */
  random(): number
  /** Resolves after `ms`, or when the signal is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>
}
