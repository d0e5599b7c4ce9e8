import { followHints, sendHeartbeat, startHeartbeats, type HeartbeatAnswer } from '../../../client/agent/heartbeat.ts'
import type { FleetNode, SimulatedNode } from '../simulated-node.ts'
import { takesPart, type CallingDeps, type SimulatedDeps } from './agent-deps.ts'
import { injectDuplicates } from './inject-duplicates.ts'

/** Clock difference that the server accepts (S0 Limits). */
const SKEW_MS_MAX = 60_000

interface Schedule {
  readonly intervalMs: number
  readonly until: AbortSignal
}

/** Sends the heartbeats of a node until the signal is aborted, and does what the answers ask for. */
export function keepReporting(deps: SimulatedDeps, node: SimulatedNode, schedule: Schedule): void {
  keepHeartbeats(deps, node, {
    ...schedule,
    follow: (answer) => (takesPart(deps) ? followHints(deps, node, answer) : undefined),
  })
}

/** Sends the heartbeats of a node until the signal is aborted. `follow` gets each answer. */
export function keepHeartbeats(
  deps: CallingDeps,
  node: FleetNode,
  { intervalMs, until, follow }: Schedule & { readonly follow: (answer: HeartbeatAnswer) => void },
): void {
  const beat = async (olderMs: number): Promise<void> => {
    const answer = await heartbeat(deps, node, olderMs)
    if (answer === undefined) return
    node.lastAcceptedMs = Date.parse(answer.accepted_at)
    follow(answer)
  }
  startHeartbeats(deps, { intervalMs, isFirstAtOnce: false, send: () => injectDuplicates(node, beat), until })
}

function heartbeat(deps: CallingDeps, node: FleetNode, olderMs: number): Promise<HeartbeatAnswer | undefined> {
  const { skewMs } = node.faults
  return sendHeartbeat(deps, node, {
    clientNowMs: deps.clock.now() + skewMs - olderMs,
    binary: node.binary,
    ...(Math.abs(skewMs) > SKEW_MS_MAX && { expects: 'clock_skew' }),
  })
}
