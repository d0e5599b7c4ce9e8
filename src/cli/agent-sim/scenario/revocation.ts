import type { SimulatedDeps } from '../agent/agent-deps.ts'
import { attempt } from '../../../client/agent/calls/attempt.ts'
import type { SimulatedNode } from '../simulated-node.ts'

/** A stream checks its key with every keep-alive (S0 Events), which a busy server may delay. */
const CLOSED_WITHIN_MS = 25_000 + 5_000
const POLL_MS = 100

/** Revokes a node's keys with the operator's credential, and checks that its open stream ends in time. */
export async function revoke(deps: SimulatedDeps, node: SimulatedNode): Promise<void> {
  const { client, clock, statistics, until } = deps
  node.isRevoked = true
  const id = node.identity.node_id
  const outcome = await attempt(deps, node, {
    operation: 'nsk_revocation',
    isRepeatable: true,
    call: () => client.PostNodeSecretKeyRevoke({ id }),
  })
  if (!outcome.ok) return
  deps.mesh?.ledger.forget(id)
  const deadlineMs = clock.now() + CLOSED_WITHIN_MS
  while (node.stream?.isOpen() === true && clock.now() < deadlineMs && !until.aborted) await clock.pause(POLL_MS, until)
  if (node.stream?.isOpen() === true) statistics.count(clock.now() < deadlineMs ? 'unsettled' : 'unclosed_streams')
}
