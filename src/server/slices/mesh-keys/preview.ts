import type { meshKeys } from '../../../shared/contract/mesh-keys.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { edgeWay } from '../../sql/edge-mode.ts'
import { domainOfNode } from '../../sql/node-domain.ts'
import { readHops, relaysOf } from '../../sql/relay-hops.ts'
import { visibleAmong } from '../../policies/visible-ids.ts'
import type { Worlds } from '../../policies/worlds.ts'
import { readPeers } from './edge-store.ts'

/** Edges whose ends fetch their new key in one second, the estimate for waves (decisions 6: Rotation handle). */
const EDGES_PER_SECOND = 50

/** Serves the preview of a rotation: every edge of the node would get a new key; it has edges with the peers that it sees. Changes nothing. */
export function createPreview({
  datastore,
  worlds,
}: {
  readonly datastore: Datastore
  readonly worlds: Worlds
}): Pick<Handlers<typeof meshKeys>, 'GetNodeKeysRotatePreview'> {
  return {
    async GetNodeKeysRotatePreview(ctx, { id }) {
      const db = datastore.pool('interactive')
      const domainId = await domainOfNode(db, id)
      if (domainId === undefined) throw problem('node_not_found')
      ctx.about(`node:${id}`, domainId)
      const visibility = await worlds.latest(domainId)
      const relays = relaysOf(await readHops(db, domainId))
      const others = await readPeers(db, domainId, id)
      const peers = visibleAmong(others, ({ nodeId }) => nodeId, { visibility, nodeId: id })
      return {
        node_id: id,
        edges: peers.map((peer) => ({ peer_node_id: peer.nodeId, mode: edgeWay(id, peer, relays).mode })),
        edge_count: peers.length,
        estimated_duration_seconds: Math.max(1, Math.ceil(peers.length / EDGES_PER_SECOND)),
      }
    },
  }
}
