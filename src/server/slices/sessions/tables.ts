import type { Generated } from 'kysely'
import type { Json } from '../../ports/tables/json.ts'

export interface SessionRow {
  id: string
  /** SHA-256 of the cookie's 256 random bits. */
  fingerprint: Buffer
  principal_id: string
  domain_id: string
  /** Which binding it began with; null once that is gone. */
  binding_id: string | null
  acr: string | null
  amr: Json<string[]>
  auth_time: Date
  /** False where the provider named no such time, so that the one of its token is kept. */
  auth_time_stated: Generated<boolean>
  source_address: string
  user_agent: string
  created_at: Date
  last_seen_at: Date
  /** The absolute end, 7 days after the sign-in; idle ones end earlier. */
  expires_at: Date
  /** The ID token of an external provider: names the person at its sign-out endpoint; null where there is none. */
  id_token_sealed: Buffer | null
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    sessions: SessionRow
  }
}
