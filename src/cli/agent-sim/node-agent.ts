import { createHash } from 'node:crypto'
import type { FleetDeps } from './fleet-deps.ts'
import { measure } from './measure.ts'
import type { SimulatedNode } from './simulated-node.ts'

/** Share of the interval by which each heartbeat moves at most, either way. */
const JITTER = 0.1

const BINARY = { binary_version: 'agent-sim', binary_checksum: createHash('sha256').update('agent-sim').digest('hex') }

/**
 * One agent's heartbeats until the signal. The first comes at a random point of the interval, the others keep to the
 * plan whatever a call took, so that a slow server does not slow the load down; a call that outlasts the interval
 * delays the next one and skips those that were due meanwhile.
 */
export async function reportHeartbeats(
  deps: FleetDeps,
  node: SimulatedNode,
  { intervalMs, until }: { readonly intervalMs: number; readonly until: AbortSignal },
): Promise<void> {
  const { clock } = deps
  let dueMs = clock.now() + clock.random() * intervalMs
  while (!until.aborted) {
    await clock.pause(dueMs - clock.now(), until)
    if (until.aborted) return
    await heartbeat(deps, node)
    dueMs += intervalMs * Math.max(1, Math.ceil((clock.now() - dueMs) / intervalMs))
    dueMs += intervalMs * JITTER * (clock.random() - clock.random())
  }
}

async function heartbeat({ client, clock, statistics }: FleetDeps, node: SimulatedNode): Promise<void> {
  const { node_id: id, nsk: token } = node.identity
  const answer = await measure(statistics, 'heartbeat', () =>
    client.PostNodeHeartbeat({ id, body: { client_now: new Date(clock.now()).toISOString(), ...BINARY } }, { token }),
  )
  if (answer !== undefined) node.lastAcceptedMs = Date.parse(answer.accepted_at)
}
