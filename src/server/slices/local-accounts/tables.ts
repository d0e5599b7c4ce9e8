import type { Json } from '../../ports/tables/json.ts'

export interface LocalPasskeyRow {
  /** base64url. */
  credential_id: string
  account_id: string
  /** COSE. */
  public_key: Buffer
  counter: string
  transports: Json<string[]>
  label: string
  created_at: Date
  last_used_at: Date | null
}

/** A recovery code that has not been used. */
export interface LocalRecoveryCodeRow {
  account_id: string
  /** HMAC of the code. */
  fingerprint: Buffer
  fingerprint_key_id: string
  created_at: Date
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    local_passkeys: LocalPasskeyRow
    local_recovery_codes: LocalRecoveryCodeRow
  }
}
