import type { AgentDeps } from '../agent-deps.ts'
import { attempt } from '../calls/attempt.ts'
import type { Member } from '../member.ts'

/** Maximum number of peers of one report (agent protocol: Observed endpoints). */
const PEERS_MAX = 64
/** Refusals of a server that does not have the operation. */
const NOT_THERE: readonly string[] = ['not_found', 'method_not_allowed', 'not_provisioned']

/** A peer and where the node sees it. */
export interface SeenPeer {
  readonly peerId: string
  /** `address:port`. */
  readonly endpoint: string
}

/** Peers that were seen at one instant, by the node's clock. */
export interface SeenPeers {
  readonly seen: readonly SeenPeer[]
  readonly observedMs: number
}

/** Reports where the node sees its peers, in as many calls as these need. Resolves with the peers of the calls that were answered. */
export async function sendObservedEndpoints(
  deps: AgentDeps,
  node: Member,
  { seen, observedMs }: SeenPeers,
): Promise<readonly SeenPeer[]> {
  for (let start = 0; start < seen.length; start += PEERS_MAX) {
    const isAnswered =
      !deps.until.aborted && (await sendSome(deps, node, { seen: seen.slice(start, start + PEERS_MAX), observedMs }))
    if (!isAnswered) return seen.slice(0, start)
  }
  return seen
}

async function sendSome(deps: AgentDeps, node: Member, { seen, observedMs }: SeenPeers): Promise<boolean> {
  const observed = seen.map(({ peerId, endpoint }) => ({ peer_node_id: peerId, endpoint }))
  const body = { observed, reported_at: new Date(observedMs).toISOString() }
  const outcome = await attempt(deps, node, {
    operation: 'observed_endpoints',
    isRepeatable: true,
    toleratedCodes: NOT_THERE,
    call: (token) => deps.client.PutNodeObservedEndpoints({ id: node.identity.node_id, body }, { token }),
  })
  if (!outcome.ok && NOT_THERE.includes(outcome.code)) deps.notProvisioned.add('observed_endpoints')
  return outcome.ok
}
