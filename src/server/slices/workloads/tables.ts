import type { Json } from '../../ports/tables/json.ts'

export interface TrustBundleRow {
  domain_id: string
  trust_domain: string
  bundle_url: string | null
  jwks: Json<{ keys: Record<string, unknown>[] }>
  allow_private_network: boolean
  /** When the endpoint is to be asked next; null for a bundle that was given. */
  refresh_due_at: Date | null
  refreshed_at: Date | null
  refresh_failed_since: Date | null
  updated_at: Date
}

interface UsedAssertionRow {
  /** SHA-256 over issuer and `jti`. */
  assertion_hash: Buffer
  expires_at: Date
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    trust_bundles: TrustBundleRow
    used_assertions: UsedAssertionRow
  }
}
