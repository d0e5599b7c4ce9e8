import { createCipheriv, createSecretKey, randomBytes, type KeyObject } from 'node:crypto'
import { parseNsk } from '../../shared/credential-formats.ts'
import { NONCE_BYTES } from '../../shared/mesh/nsk-envelope.ts'
import type { RequestContext } from './request-context.ts'

/** The node secret key of a call, which answers are sealed under. */
export interface PresentedNsk {
  readonly kid: string
  /** The 32 key bytes. */
  readonly key: KeyObject
}

/** The key of the call itself, since the bytes of none are stored (decisions 4: NSK). The contract says `sealsToSecret`. */
export function presentedNsk(ctx: Pick<RequestContext, 'presentedSecret'>): PresentedNsk {
  const fields = parseNsk(ctx.presentedSecret())
  if (fields === undefined) throw new Error('what resolved as a node secret key is none')
  const key = createSecretKey(fields.key)
  fields.key.fill(0)
  return { kid: fields.kid, key }
}

/**
 * Seals with AES-256-GCM and a fresh nonce: `nonce (12) | ciphertext | tag (16)`. A secret key must be rotated before it has
 * sealed 2^32 envelopes: until then the chance that two random nonces are equal is below 2^-32 (NIST SP 800-38D §8.3).
 */
export function sealUnderPresented(content: Uint8Array, key: KeyObject, aad: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(aad)
  return Buffer.concat([nonce, cipher.update(content), cipher.final(), cipher.getAuthTag()])
}
