/** Tables of the keys that the server seals and signs with. */
export interface KeysTables {
  keyring: KeyringRow
  signing_keys: SigningKeyRow
}

interface KeyringRow {
  key_id: string
  purpose: string
  sealed: Buffer
  created_at: Date
  retired_at: Date | null
}

interface SigningKeyRow {
  kid: string
  /** 32 bytes, Ed25519. */
  public_key: Buffer
  /** The private key as PKCS #8, sealed; null once the key verifies nothing any more. */
  private_sealed: Buffer | null
  created_at: Date
  /** When it was published. */
  not_before: Date
  signs_from: Date
  /** Until when it verifies; null while no other key is to follow it. */
  not_after: Date | null
}
