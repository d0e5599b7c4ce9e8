import type { Generated } from 'kysely'
import type { GeneratedJson, Json } from '../../ports/tables/json.ts'

export interface DeviceSignInRow {
  id: string
  /** SHA-256. */
  device_code_hash: Buffer
  /** 8 letters without the hyphen. */
  user_code: string
  domain_id: string
  binding_id: string
  client_id: string
  client_name: string | null
  scopes: Json<string[]>
  /** The sign-in that the approver must have: one of these `acr` values, if there are any, and no older than that. */
  acr_values: GeneratedJson<string[]>
  max_age_seconds: Generated<number | null>
  /** How long its token works. */
  token_seconds: Generated<number>
  source_address: string
  state: 'pending' | 'approved' | 'denied' | 'redeemed'
  decided_by: string | null
  decided_at: Date | null
  /** How the approver was signed in; no time where the provider stated none. */
  approver_acr: Generated<string | null>
  approver_auth_time: Generated<Date | null>
  interval_seconds: number
  polled_at: Date | null
  created_at: Date
  expires_at: Date
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    device_sign_ins: DeviceSignInRow
  }
}
