import type { Client } from '../../client/client.ts'
import type { contract } from '../../shared/contract/index.ts'
import type { NodeStreams } from './node-streams.ts'
import type { Statistics } from './statistics.ts'

export type ApiClient = Client<typeof contract>

/** What every part of a simulated fleet works with. */
export interface FleetDeps {
  readonly client: ApiClient
  readonly statistics: Statistics
  readonly clock: AgentClock
  /** Undefined where agents hold no event streams. */
  readonly streams: NodeStreams | undefined
}

/** Time and chance as agents live by them. */
export interface AgentClock {
  /** Milliseconds since the epoch: what agents report as their own clock. */
  now(): number
  /** In [0, 1). */
  random(): number
  /** Resolves after the time, or at once when the signal ends it. */
  pause(ms: number, signal: AbortSignal): Promise<void>
}
