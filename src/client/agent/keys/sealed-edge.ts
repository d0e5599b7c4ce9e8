import { parseNsk } from '../../../shared/credential-formats.ts'
import { openEdgeEnvelope } from '../../../shared/mesh/edge-envelope.ts'
import { isEpochAcceptable, parseEdgeEpoch } from '../../../shared/mesh/edge-epoch.ts'
import type { MemberDeps } from '../agent-deps.ts'
import type { SealedEdgeKey } from '../calls/node-wire.ts'
import type { Member } from '../member.ts'
import { digestSoon } from './epoch-report.ts'
import { learnNewerHalf, learnOwnHalf } from './own-half.ts'

/** The sealed key of the edge with a peer. */
export interface FetchedEdgeKey {
  readonly peerId: string
  readonly sealed: SealedEdgeKey
  /** A pair of the node was in doubt when the key was requested. An answer to an earlier request does not decide its rotation. */
  readonly wasInDoubt: boolean
}

/** What became of the key of an edge. */
export interface AppliedEdgeKey {
  /** It is in force. */
  readonly isTaken: boolean
  /** Its epoch shows that the next pair of the node is its own, so that every edge has a new key. */
  readonly isPairAdopted: boolean
}

/** Opens the envelope, and refuses an epoch older than the current one (S0). The own half of either decides about a pair in doubt. */
export function applyEdgeKey<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  { peerId, sealed, wasInDoubt }: FetchedEdgeKey,
): AppliedEdgeKey {
  const { statistics, actions } = deps
  const epoch = parseEdgeEpoch(sealed.epoch)
  const key = epoch && opened(sealed, { nodeId: node.identity.node_id, peerId })
  if (epoch === undefined || key === undefined) {
    statistics.count('bad_envelopes')
    return { isTaken: false, isPairAdopted: false }
  }
  node.edges ??= new Map()
  const isTaken = isEpochAcceptable(epoch, node.edges.get(peerId))
  if (isTaken) {
    node.edges.set(peerId, epoch)
    actions.takeEdgeKey(node, { peerId, epoch, key })
    digestSoon(deps, node)
  } else statistics.count('epoch_regressions')
  const decides = isTaken || node.isNextInDoubt
  const learn = wasInDoubt ? learnOwnHalf : learnNewerHalf
  return { isTaken, isPairAdopted: decides && learn(deps, node, epoch.own) }
}

function opened(
  { envelope, kid, epoch, nsk }: SealedEdgeKey,
  { nodeId, peerId }: { readonly nodeId: string; readonly peerId: string },
): Uint8Array | undefined {
  const fields = parseNsk(nsk)
  if (fields === undefined || fields.kid !== kid) return undefined
  const outcome = openEdgeEnvelope(envelope, fields.key, { nodeId, peerNodeId: peerId, epoch })
  return outcome.ok ? outcome.edgeKey : undefined
}
