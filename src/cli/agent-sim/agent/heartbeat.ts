import { createHash } from 'node:crypto'
import { attempt } from '../attempt.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import { takesPart, type AgentDeps } from './agent-deps.ts'
import { rotateSoon } from './key-rotation.ts'
import { pullSoon } from './state-pull.ts'
import { injectDuplicates } from './inject-duplicates.ts'

/** Share of the interval by which each heartbeat moves at most, either way. */
const JITTER = 0.1

/** What a simulated agent says that it is, until it has a binary. */
export const BINARY = {
  binary_version: 'agent-sim',
  binary_checksum: createHash('sha256').update('agent-sim').digest('hex'),
}

/** What a server bears of clocks that differ (S0 Limits). */
const SKEW_MS_MAX = 60_000
/** A node that is asked to pull does so within so many ms. */
const RECONCILE_WITHIN_MS = 1_000

/**
 * Lets an agent report until the signal. The first heartbeat comes at a random point of the interval,
 * the others keep to the plan whatever a call took, so that a slow server does not slow the load down; a call that
 * outlasts the interval delays the next one and skips those that were due meanwhile.
 */
export function keepReporting(
  deps: AgentDeps,
  node: SimulatedNode,
  { intervalMs, until }: { readonly intervalMs: number; readonly until: AbortSignal },
): void {
  const { clock, wheel, errands } = deps
  let dueMs = clock.now() + clock.random() * intervalMs
  const wait = (): void =>
    wheel.after(dueMs - clock.now(), () => {
      if (!until.aborted) errands.begin(report())
    })
  async function report(): Promise<void> {
    await injectDuplicates(node, (olderMs) => heartbeat(deps, node, olderMs))
    dueMs += intervalMs * Math.max(1, Math.ceil((clock.now() - dueMs) / intervalMs))
    dueMs += intervalMs * JITTER * (clock.random() - clock.random())
    wait()
  }
  wait()
}

async function heartbeat(deps: AgentDeps, node: SimulatedNode, olderMs: number): Promise<void> {
  const { client, clock } = deps
  const id = node.identity.node_id
  const { skewMs } = node.faults
  const client_now = new Date(clock.now() + skewMs - olderMs).toISOString()
  const outcome = await attempt(deps, node, {
    operation: 'heartbeat',
    isRepeatable: true,
    ...(Math.abs(skewMs) > SKEW_MS_MAX && { expects: 'clock_skew' }),
    call: (token) => client.PostNodeHeartbeat({ id, body: { client_now, ...BINARY } }, { token }),
  })
  if (!outcome.ok) return
  const { accepted_at, reconcile, rotate_keys } = outcome.value
  node.lastAcceptedMs = Date.parse(accepted_at)
  if (!takesPart(deps)) return
  if (reconcile) pullSoon(deps, node, RECONCILE_WITHIN_MS)
  if (rotate_keys) rotateSoon(deps, node)
}
