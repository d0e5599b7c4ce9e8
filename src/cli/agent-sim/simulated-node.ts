import type { HeldStream } from './event-agent.ts'
import type { NodeIdentity } from './state-directory.ts'

/** A node of the fleet while it runs. */
export interface SimulatedNode {
  readonly identity: NodeIdentity
  /** When the server last accepted a heartbeat of it, by the server's clock. */
  lastAcceptedMs: number | undefined
  /** While it holds its event stream. */
  stream: HeldStream | undefined
}

/** Ages at which a silent node changes its state (S0 Limits: heartbeat staleness). */
const STALE_AFTER_MS = 90_000
const UNREACHABLE_AFTER_MS = 300_000

/** Counts the nodes by the state that the server gives them, from the heartbeats that it accepted. */
export function tallyReachability(nodes: readonly SimulatedNode[], nowMs: number): Readonly<Record<string, number>> {
  const tally = { never_reported: 0, healthy: 0, stale: 0, unreachable: 0 }
  for (const { lastAcceptedMs } of nodes) tally[stateOf(lastAcceptedMs, nowMs)]++
  return tally
}

function stateOf(
  lastAcceptedMs: number | undefined,
  nowMs: number,
): 'never_reported' | 'healthy' | 'stale' | 'unreachable' {
  if (lastAcceptedMs === undefined) return 'never_reported'
  const ageMs = nowMs - lastAcceptedMs
  if (ageMs < STALE_AFTER_MS) return 'healthy'
  return ageMs < UNREACHABLE_AFTER_MS ? 'stale' : 'unreachable'
}
