import { followHints, sendHeartbeat, startHeartbeats } from '../../../client/agent/heartbeat.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import { takesPart, type SimulatedDeps } from './agent-deps.ts'
import { injectDuplicates } from './inject-duplicates.ts'

/** Clock difference that the server accepts (S0 Limits). */
const SKEW_MS_MAX = 60_000

/** Sends the heartbeats of a node until the signal is aborted. */
export function keepReporting(
  deps: SimulatedDeps,
  node: SimulatedNode,
  { intervalMs, until }: { readonly intervalMs: number; readonly until: AbortSignal },
): void {
  const send = (): Promise<void> => injectDuplicates(node, (olderMs) => heartbeat(deps, node, olderMs))
  startHeartbeats(deps, { intervalMs, isFirstAtOnce: false, send, until })
}

async function heartbeat(deps: SimulatedDeps, node: SimulatedNode, olderMs: number): Promise<void> {
  const { skewMs } = node.faults
  const answer = await sendHeartbeat(deps, node, {
    clientNowMs: deps.clock.now() + skewMs - olderMs,
    binary: node.binary,
    ...(Math.abs(skewMs) > SKEW_MS_MAX && { expects: 'clock_skew' }),
  })
  if (answer === undefined) return
  node.lastAcceptedMs = Date.parse(answer.accepted_at)
  if (takesPart(deps)) followHints(deps, node, answer)
}
