import { EDGE_KEY_BYTES } from './edge-key.ts'
import { NONCE_BYTES, openUnderNsk, TAG_BYTES, type EnvelopeFault } from './nsk-envelope.ts'

/** `nonce (12) | ciphertext (32) | tag (16)`, as `GET /v1/nodes/{id}/peers/{peer_node_id}/psk` answers it. */
export const ENVELOPE_BYTES = NONCE_BYTES + EDGE_KEY_BYTES + TAG_BYTES

/** The values that an envelope is bound to. */
export interface EnvelopePlace {
  /** The node that fetched it. */
  readonly nodeId: string
  readonly peerNodeId: string
  /** The value of `X-Service-PSK-Epoch`, verbatim. */
  readonly epoch: string
}

/** `wrong_length`: it is not 60 bytes. */
export type OpenedEnvelope =
  | { readonly ok: true; readonly edgeKey: Uint8Array }
  | { readonly ok: false; readonly fault: EnvelopeFault }

/** The associated data of an envelope (S0 Edge preshared-key envelope). */
export function envelopeAad({ nodeId, peerNodeId, epoch }: EnvelopePlace): Uint8Array {
  return new TextEncoder().encode(
    `service/mesh/edge-psk/v1|${nodeId.toLowerCase()}|${peerNodeId.toLowerCase()}|${epoch}`,
  )
}

/**
 * Opens an envelope with the 32 key bytes of the node secret key that fetched it (`parseNsk`). It does not decide whether the epoch may be put
 * in force: see `isEpochAcceptable`.
 *
 * @throws RangeError where the key has another length.
 */
export function openEdgeEnvelope(envelope: Uint8Array, key: Uint8Array, place: EnvelopePlace): OpenedEnvelope {
  if (envelope.length !== ENVELOPE_BYTES) return { ok: false, fault: 'wrong_length' }
  const edgeKey = openUnderNsk(envelope, key, envelopeAad(place))
  return edgeKey === undefined ? { ok: false, fault: 'not_authentic' } : { ok: true, edgeKey }
}
