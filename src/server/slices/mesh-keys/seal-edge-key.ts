import { createCipheriv, createSecretKey, hkdfSync, randomBytes, type KeyObject } from 'node:crypto'
import { envelopeAad, NONCE_BYTES, type EnvelopePlace } from '../../../shared/mesh/edge-envelope.ts'
import { EDGE_KEY_BYTES, edgeKeyInput, type EdgeEnd } from '../../../shared/mesh/edge-key.ts'

/**
 * Derives the key of the edge between the ends and seals it for the requesting node, under its 32 key bytes, with a fresh
 * nonce: 60 bytes. A secret key must be rotated before it has sealed 2^32 envelopes: until then the chance that two
 * random nonces are equal is below 2^-32 (NIST SP 800-38D §8.3).
 */
export function sealEdgeKey(ends: readonly [EdgeEnd, EdgeEnd], key: KeyObject, place: EnvelopePlace): Buffer {
  const edgeKey = deriveEdgeKey(ends)
  try {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(envelopeAad(place))
    return Buffer.concat([nonce, cipher.update(edgeKey), cipher.final(), cipher.getAuthTag()])
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
