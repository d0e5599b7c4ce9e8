import type { ColumnType, Generated } from 'kysely'

/** Tables of the keys that the server seals and signs with. */
export interface KeysTables {
  keyring: KeyringRow
  signing_keys: SigningKeyRow
  signer_in_use: SignerInUseRow
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
  /** The private key as PKCS #8, sealed; null once the key verifies nothing any more, and where another service has it. */
  private_sealed: Buffer | null
  created_at: Date
  /** When it was published. */
  not_before: Date
  signs_from: Date
  /** Until when it verifies; null while no other key is to follow it. */
  not_after: Date | null
  /** `sealed`, or the name of a key in another service. */
  signer: ColumnType<string, string | undefined>
  /** The version of that key. */
  signer_version: ColumnType<number | null, number | null | undefined>
}

/** The signer that makes new keys; one row. */
interface SignerInUseRow {
  singleton: Generated<boolean>
  signer: string
  address: string
  /** A key that was made twice by two rotations at once; it is not published by itself. */
  passed_kid: string | null
}
