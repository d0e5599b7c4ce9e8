import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { envelopeAad, type EnvelopePlace } from '../../../shared/mesh/edge-envelope.ts'
import { EDGE_KEY_BYTES, edgeKeyInput, type EdgeEnd } from '../../../shared/mesh/edge-key.ts'
import { sealUnderPresented } from '../../http/nsk-envelope.ts'

/** Derives the key of the edge between the ends and seals it for the requesting node, under its 32 key bytes: 60 bytes. */
export function sealEdgeKey(ends: readonly [EdgeEnd, EdgeEnd], key: KeyObject, place: EnvelopePlace): Buffer {
  const edgeKey = deriveEdgeKey(ends)
  try {
    return sealUnderPresented(edgeKey, key, envelopeAad(place))
  } finally {
    edgeKey.fill(0)
  }
}

function deriveEdgeKey([one, other]: readonly [EdgeEnd, EdgeEnd]): Buffer {
  const { ikm, info } = edgeKeyInput(one, other)
  const secret = createSecretKey(ikm)
  ikm.fill(0)
  return Buffer.from(hkdfSync('sha256', secret, '', info, EDGE_KEY_BYTES))
}
