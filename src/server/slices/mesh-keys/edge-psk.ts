import type { KeyObject } from 'node:crypto'
import type { meshKeys } from '../../../shared/contract/mesh-keys.ts'
import { formatEdgeEpoch } from '../../../shared/mesh/edge-epoch.ts'
import { formatPskIssuedAt } from '../../../shared/mesh/psk-instant.ts'
import { problem } from '../../../shared/problems.ts'
import { presentedNsk } from '../../http/nsk-envelope.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Sealing } from '../../ports/keyring.ts'
import { pskPlace } from '../../sql/node-psk.ts'
import { readEnds, type StoredEnd } from './edge-store.ts'
import { seeEachOther } from '../../policies/visible-ids.ts'
import type { Worlds } from '../../policies/worlds.ts'
import { sealEdgeKey } from './seal-edge-key.ts'

export interface EdgePsksDeps {
  readonly datastore: Datastore
  readonly worlds: Worlds
  readonly sealing: Sealing
}

/**
 * Serves the keys of edges to the nodes at their ends. One statement reads both halves of the epochs and all node keys,
 * so that an envelope matches its epoch. Nothing is cached between two calls.
 */
export function createEdgePsks({
  datastore,
  worlds,
  sealing,
}: EdgePsksDeps): Pick<Handlers<typeof meshKeys>, 'GetNodePeerPSK' | 'PostNodePeerPSKs'> {
  return {
    async GetNodePeerPSK(ctx, { id, peer_node_id: peerNodeId }) {
      if (peerNodeId === id) throw problem('same_peer')
      const { own, peers } = await readEdges(ctx.caller.domainId, id, [peerNodeId])
      const [peer] = peers
      if (peer === undefined) throw problem('peer_not_found')
      const { kid, key } = presentedNsk(ctx)
      const sealed = await withPsk(own, (ownPsk) => sealEdge({ own, ownPsk, key }, peer))
      ctx.header('X-Service-PSK-KID', kid)
      ctx.header('X-Service-PSK-Epoch', sealed.epoch)
      return sealed.envelope
    },

    async PostNodePeerPSKs(ctx, { id, body: { peer_node_ids: peerIds } }) {
      if (peerIds.includes(id)) throw problem('same_peer')
      const { own, peers } = await readEdges(ctx.caller.domainId, id, peerIds)
      const { kid, key } = presentedNsk(ctx)
      const sealed = await withPsk(own, async (ownPsk) => {
        const envelopes: SealedEdge[] = []
        for (const peer of peers) envelopes.push(await sealEdge({ own, ownPsk, key }, peer))
        return envelopes
      })
      return {
        kid,
        envelopes: sealed.map(({ peerNodeId, epoch, envelope }) => {
          return { peer_node_id: peerNodeId, epoch, envelope: envelope.toString('base64') }
        }),
      }
    },
  }

  /** The calling node, and those of the others that are its peers, in their order. */
  async function readEdges(
    domainId: string,
    id: string,
    peerIds: readonly string[],
  ): Promise<{ readonly own: StoredEnd; readonly peers: readonly StoredEnd[] }> {
    const ends = await readEnds(datastore.pool('interactive'), domainId, [id, ...peerIds])
    const own = ends.get(id)
    // Deregistered since its key was resolved.
    if (own === undefined) throw problem('unauthorized')
    // By the rows that all were read with, or later ones.
    const visibility = own.is_filtered ? await worlds.at(domainId, Number(own.peer_revision)) : undefined
    const known = peerIds.map((peerId) => ends.get(peerId)).filter((peer) => peer !== undefined)
    return { own, peers: known.filter((peer) => seeEachOther(visibility, id, peer.id)) }
  }

  async function sealEdge({ own, ownPsk, key }: OpenedEnd, peer: StoredEnd): Promise<SealedEdge> {
    const epoch = formatEdgeEpoch({ own: issuedAt(own), peer: issuedAt(peer) })
    const envelope = await withPsk(peer, (peerPsk) =>
      sealEdgeKey(
        [
          { nodeId: own.id, psk: ownPsk },
          { nodeId: peer.id, psk: peerPsk },
        ],
        key,
        { nodeId: own.id, peerNodeId: peer.id, epoch },
      ),
    )
    return { peerNodeId: peer.id, epoch, envelope }
  }

  /** Opens the stored key of a node for as long as `use` takes. */
  async function withPsk<T>({ id, psk_sealed }: StoredEnd, use: (psk: Buffer) => T | Promise<T>): Promise<T> {
    const psk = await sealing.open(pskPlace(id), psk_sealed)
    try {
      return await use(psk)
    } finally {
      psk.fill(0)
    }
  }
}

/** The end that the envelopes are for. */
interface OpenedEnd {
  readonly own: StoredEnd
  readonly ownPsk: Buffer
  /** The key bytes of its node secret key. */
  readonly key: KeyObject
}

interface SealedEdge {
  readonly peerNodeId: string
  readonly epoch: string
  readonly envelope: Buffer
}

function issuedAt({ psk_issued_at }: StoredEnd): string {
  return formatPskIssuedAt(BigInt(psk_issued_at))
}
