import type { Json } from '../../ports/tables/json.ts'

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
  source_address: string
  state: 'pending' | 'approved' | 'denied' | 'redeemed'
  decided_by: string | null
  decided_at: Date | null
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
