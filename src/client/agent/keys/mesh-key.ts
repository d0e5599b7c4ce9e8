import { generateKeyPairSync } from 'node:crypto'

/** A node's mesh key pair. */
export interface MeshKey {
  /** Curve25519, 32 bytes in padded base64. */
  readonly publicKey: string
  /** PKCS #8 DER in base64. */
  readonly privateKey: string
}

/** Bytes of an X25519 SubjectPublicKeyInfo before the key itself (RFC 8410). */
const SPKI_PREFIX_BYTES = 12

/** Generates a key pair. */
export function generateMeshKey(): MeshKey {
  const { publicKey, privateKey } = generateKeyPairSync('x25519')
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  return {
    publicKey: spki.subarray(SPKI_PREFIX_BYTES).toString('base64'),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
  }
}
