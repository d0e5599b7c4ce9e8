import type { KeyObject } from 'node:crypto'
import type { meshKeys } from '../../../shared/contract/mesh-keys.ts'
import type { EnvelopePlace } from '../../../shared/mesh/edge-envelope.ts'
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
 * Serves the keys of edges to the nodes at their ends. One statement reads both halves of the epoch and both node keys,
 * so that an envelope matches its epoch. Nothing is cached between two calls.
 */
export function createEdgePsks({
  datastore,
  worlds,
  sealing,
}: EdgePsksDeps): Pick<Handlers<typeof meshKeys>, 'GetNodePeerPSK'> {
  return {
    async GetNodePeerPSK(ctx, { id, peer_node_id: peerNodeId }) {
      if (peerNodeId === id) throw problem('same_peer')
      const ends = await readEnds(datastore.pool('interactive'), ctx.caller.domainId, [id, peerNodeId])
      const [own, peer] = [ends.get(id), ends.get(peerNodeId)]
      // Deregistered since its key was resolved.
      if (own === undefined) throw problem('unauthorized')
      if (peer === undefined || !(await areVisible(ctx.caller.domainId, own, peer))) throw problem('peer_not_found')
      const { kid, key } = presentedNsk(ctx)
      const epoch = formatEdgeEpoch({ own: issuedAt(own), peer: issuedAt(peer) })
      const envelope = await seal({ own, peer }, key, { nodeId: id, peerNodeId, epoch })
      ctx.header('X-Service-PSK-KID', kid)
      ctx.header('X-Service-PSK-Epoch', epoch)
      return envelope
    },
  }

  /** Whether each is among the other's peers, by the rows that both were read with or later ones. */
  async function areVisible(domainId: string, own: StoredEnd, peer: StoredEnd): Promise<boolean> {
    if (!own.is_filtered) return true
    return seeEachOther(await worlds.at(domainId, Number(own.peer_revision)), own.id, peer.id)
  }

  async function seal(
    { own, peer }: { readonly own: StoredEnd; readonly peer: StoredEnd },
    key: KeyObject,
    place: EnvelopePlace,
  ): Promise<Buffer> {
    const ownPsk = await sealing.open(pskPlace(own.id), own.psk_sealed)
    const peerPsk = await sealing.open(pskPlace(peer.id), peer.psk_sealed)
    try {
      return sealEdgeKey(
        [
          { nodeId: own.id, psk: ownPsk },
          { nodeId: peer.id, psk: peerPsk },
        ],
        key,
        place,
      )
    } finally {
      ownPsk.fill(0)
      peerPsk.fill(0)
    }
  }
}

function issuedAt({ psk_issued_at }: StoredEnd): string {
  return formatPskIssuedAt(BigInt(psk_issued_at))
}
