/** A public key that verifies event envelopes and session tokens (OKP Ed25519, RFC 8037). */
export interface VerificationKey {
  readonly kid: string
  /** 32 bytes. */
  readonly publicKey: Buffer
  readonly notBefore: Date
  readonly notAfter: Date | undefined
}

/** Signs with Ed25519. */
export interface Signer {
  sign(bytes: Uint8Array): Promise<{ kid: string; signature: Buffer }>
  /** Keys that verify now, current first. */
  keys(): readonly VerificationKey[]
}
