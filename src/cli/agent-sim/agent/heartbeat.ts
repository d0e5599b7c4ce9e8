import { attempt } from '../attempt.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import { takesPart, type AgentDeps } from './agent-deps.ts'
import { rotateSoon } from './key-rotation.ts'
import { pullSoon } from './state-pull.ts'
import { injectDuplicates } from './inject-duplicates.ts'

/** Maximum jitter of a heartbeat in either direction, as a share of the interval. */
const JITTER = 0.1

/** Clock difference that the server accepts (S0 Limits). */
const SKEW_MS_MAX = 60_000
/** Maximum random delay of a pull that the server requests. */
const RECONCILE_WITHIN_MS = 1_000

/**
 * Sends heartbeats until the signal is aborted. The first one comes at a random point of the interval. The others keep to
 * the schedule, so that a slow server does not reduce the load. A call that takes longer than the interval delays the next
 * heartbeat and skips those that were due meanwhile.
 */
export function startHeartbeats(
  deps: AgentDeps,
  node: SimulatedNode,
  { intervalMs, until }: { readonly intervalMs: number; readonly until: AbortSignal },
): void {
  const { clock, wheel, tasks } = deps
  let dueMs = clock.now() + clock.random() * intervalMs
  const scheduleNext = (): void =>
    wheel.after(dueMs - clock.now(), () => {
      if (!until.aborted) tasks.track(sendDue())
    })
  async function sendDue(): Promise<void> {
    await injectDuplicates(node, (olderMs) => heartbeat(deps, node, olderMs))
    dueMs += intervalMs * Math.max(1, Math.ceil((clock.now() - dueMs) / intervalMs))
    dueMs += intervalMs * JITTER * (clock.random() - clock.random())
    scheduleNext()
  }
  scheduleNext()
}

async function heartbeat(deps: AgentDeps, node: SimulatedNode, olderMs: number): Promise<void> {
  const { client, clock } = deps
  const id = node.identity.node_id
  const { skewMs } = node.faults
  const client_now = new Date(clock.now() + skewMs - olderMs).toISOString()
  const { version: binary_version, checksum: binary_checksum } = node.binary
  const outcome = await attempt(deps, node, {
    operation: 'heartbeat',
    isRepeatable: true,
    ...(Math.abs(skewMs) > SKEW_MS_MAX && { expects: 'clock_skew' }),
    call: (token) => client.PostNodeHeartbeat({ id, body: { client_now, binary_version, binary_checksum } }, { token }),
  })
  if (!outcome.ok) return
  const { accepted_at, reconcile, rotate_keys } = outcome.value
  node.lastAcceptedMs = Date.parse(accepted_at)
  if (!takesPart(deps)) return
  if (reconcile) pullSoon(deps, node, RECONCILE_WITHIN_MS)
  if (rotate_keys) rotateSoon(deps, node)
}
