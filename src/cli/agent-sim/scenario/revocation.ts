import type { AgentDeps } from '../agent/agent-deps.ts'
import { attempt } from '../attempt.ts'
import type { SimulatedNode } from '../simulated-node.ts'

/** A stream looks at its key with every keep-alive (S0 Events), and a busy server may be late with one. */
const CLOSED_WITHIN_MS = 25_000 + 5_000
const LOOK_EVERY_MS = 100

/** Revokes a node's keys in the middle of its stream, with the operator's credential, and looks whether the stream ends. */
export async function revoke(deps: AgentDeps, node: SimulatedNode): Promise<void> {
  const { client, clock, statistics, until } = deps
  node.isCutOff = true
  const id = node.identity.node_id
  const outcome = await attempt(deps, node, {
    operation: 'nsk_revocation',
    isRepeatable: true,
    call: () => client.PostNodeSecretKeyRevoke({ id }),
  })
  if (!outcome.ok) return
  deps.mesh?.ledger.forget(id)
  const lateMs = clock.now() + CLOSED_WITHIN_MS
  while (node.stream?.isOpen() === true && clock.now() < lateMs && !until.aborted)
    await clock.pause(LOOK_EVERY_MS, until)
  if (node.stream?.isOpen() === true) statistics.count(clock.now() < lateMs ? 'unsettled' : 'unclosed_streams')
}
