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

/** A peer of a call that was answered. */
export interface SentPeer extends SeenPeer {
  /** False where the server ignored some of the call's peers, and so perhaps this one. */
  readonly isTaken: boolean
}

/** Reports where the node sees its peers, in as many calls as these need. Resolves with the peers of the calls that were answered. */
export async function sendObservedEndpoints(
  deps: AgentDeps,
  node: Member,
  { seen, observedMs }: SeenPeers,
): Promise<readonly SentPeer[]> {
  const sent: SentPeer[] = []
  for (let start = 0; start < seen.length && !deps.until.aborted; start += PEERS_MAX) {
    const part = seen.slice(start, start + PEERS_MAX)
    const ignored = await sendSome(deps, node, { seen: part, observedMs })
    if (ignored === undefined) return sent
    sent.push(...part.map((peer) => ({ ...peer, isTaken: ignored === 0 })))
  }
  return sent
}

/** Resolves with the number of peers that the server ignored; undefined where it did not answer. */
async function sendSome(deps: AgentDeps, node: Member, { seen, observedMs }: SeenPeers): Promise<number | undefined> {
  const observed = seen.map(({ peerId, endpoint }) => ({ peer_node_id: peerId, endpoint }))
  const body = { observed, reported_at: new Date(observedMs).toISOString() }
  const outcome = await attempt(deps, node, {
    operation: 'observed_endpoints',
    isRepeatable: true,
    toleratedCodes: NOT_THERE,
    call: (token) => deps.client.PutNodeObservedEndpoints({ id: node.identity.node_id, body }, { token }),
  })
  if (!outcome.ok && NOT_THERE.includes(outcome.code)) deps.notProvisioned.add('observed_endpoints')
  return outcome.ok ? outcome.value.ignored : undefined
}
