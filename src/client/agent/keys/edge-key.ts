import { parseNsk } from '../../../shared/credential-formats.ts'
import { openEdgeEnvelope } from '../../../shared/mesh/edge-envelope.ts'
import { isEpochAcceptable, parseEdgeEpoch, type EdgeEpoch } from '../../../shared/mesh/edge-epoch.ts'
import { attempt } from '../calls/attempt.ts'
import type { SealedEdgeKey } from '../calls/node-wire.ts'
import type { Member } from '../member.ts'
import type { MemberDeps } from '../agent-deps.ts'
import { digestSoon } from './epoch-report.ts'

/** Maximum random delay before an agent fetches a changed key. */
const WITHIN_MS = 1_000

/** Schedules a fetch of the key of an edge. Fetches of one edge never overlap. */
export function fetchEdgeKeySoon<M extends Member>(deps: MemberDeps<M>, node: M, peerId: string): void {
  if (node.fetching.has(peerId)) return void node.fetching.set(peerId, 'again')
  node.fetching.set(peerId, 'once')
  deps.tasks.schedule(deps.clock.random() * WITHIN_MS, () =>
    deps.mesh.limiters.edgeKeys(deps.until, async () => {
      // The call that starts now also serves all earlier requests.
      node.fetching.set(peerId, 'once')
      await fetchEdgeKey(deps, node, peerId)
      const isAgain = node.fetching.get(peerId) === 'again'
      node.fetching.delete(peerId)
      if (isAgain) fetchEdgeKeySoon(deps, node, peerId)
    }),
  )
}

/** Schedules a fetch of the keys of all sampled edges. */
export function fetchEdgeKeysSoon<M extends Member>(deps: MemberDeps<M>, node: M): void {
  for (const peerId of deps.actions.edgesOf(node)) fetchEdgeKeySoon(deps, node, peerId)
}

async function fetchEdgeKey<M extends Member>(deps: MemberDeps<M>, node: M, peerId: string): Promise<void> {
  const { node_id: nodeId } = node.identity
  const outcome = await attempt(deps, node, {
    operation: 'edge_key',
    isRepeatable: true,
    call: (nsk) => deps.mesh.wire.fetchEdgeKey({ nodeId, nsk, peerId }),
  })
  if (outcome.ok) applyKey(deps, node, { peerId, sealed: outcome.value })
}

interface Fetched {
  readonly peerId: string
  readonly sealed: SealedEdgeKey
}

/**
 * Opens the envelope, and refuses an epoch older than the current one (S0).
 */
function applyKey<M extends Member>(deps: MemberDeps<M>, node: M, { peerId, sealed }: Fetched): void {
  const { statistics, actions } = deps
  const { node_id: nodeId } = node.identity
  const epoch = parseEdgeEpoch(sealed.epoch)
  const key = epoch && opened(sealed, { nodeId, peerId })
  if (epoch === undefined || key === undefined) return statistics.count('bad_envelopes')
  node.edges ??= new Map()
  if (!isEpochAcceptable(epoch, node.edges.get(peerId))) return statistics.count('epoch_regressions')
  node.edges.set(peerId, epoch)
  actions.takeEdgeKey(node, { peerId, epoch, key })
  return learnOwnHalf(deps, node, epoch)
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

/** Takes the node's own half of the epoch if it is newer: from a rotation whose answer was lost, or from an earlier run. */
function learnOwnHalf<M extends Member>(deps: MemberDeps<M>, node: M, { own }: EdgeEpoch): void {
  const { psk_issued_at: known } = node.identity
  if (known !== undefined && known >= own) return
  node.identity = { ...node.identity, psk_issued_at: own }
  digestSoon(deps, node)
}
