import type { Generated } from 'kysely'
import type { Json } from './json.ts'

/** Tables of identity providers, browser sessions, device sign-ins and workload assertions. */
export interface SignInTables {
  idp_bindings: IdpBindingRow
  sign_ins: SignInRow
  sessions: SessionRow
  device_sign_ins: DeviceSignInRow
  trust_bundles: TrustBundleRow
  used_assertions: UsedAssertionRow
  provider_states: ProviderStateRow
  provider_keys: ProviderKeyRow
}

export interface IdpBindingRow {
  id: string
  /** Null: shared by the platform's Domains that have none of their own. */
  domain_id: string | null
  alias: string
  label: string
  issuer: string
  client_id: string
  client_secret_sealed: Buffer | null
  api_audience: string | null
  algorithms: Json<string[]>
  claims: Json<{ subject: string; email: string; name: string; groups: string | null; domain: string | null }>
  required_acr: Json<string[]>
  required_amr: Json<string[]>
  is_primary: boolean
  is_active: boolean
  auto_provision: Json<{ email_domains: string[]; groups: string[] } | null>
  allow_private_network: boolean
  /** The provider that this server is itself. */
  is_bundled: Generated<boolean>
  /** Whether people sign in with it; else it is for access tokens alone. */
  signs_in: Generated<boolean>
  created_at: Date
  updated_at: Date
}

/** A sign-in that a browser began and did not finish yet. */
export interface SignInRow {
  /** SHA-256 of `state`. */
  state_hash: Buffer
  /** SHA-256 of the cookie that binds it to the browser. */
  browser_hash: Buffer
  binding_id: string
  domain_id: string
  /** Nonce and PKCE verifier. */
  sealed: Buffer
  return_to: string
  created_at: Date
  expires_at: Date
}

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
  source_address: string
  user_agent: string
  created_at: Date
  last_seen_at: Date
  /** The absolute end, 7 days after the sign-in; idle ones end earlier. */
  expires_at: Date
  /** The ID token of an external provider: names the person at its sign-out endpoint; null where there is none. */
  id_token_sealed: Buffer | null
}

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

export interface ProviderStateRow {
  /** Kind of the provider's object, e.g. `AuthorizationCode`. */
  model: string
  /** SHA-256 of its id. */
  id_hash: Buffer
  sealed: Buffer
  uid_hash: Buffer | null
  grant_hash: Buffer | null
  consumed_at: Date | null
  expires_at: Date | null
}

interface ProviderKeyRow {
  kid: string
  /** The private JWK, sealed. */
  private_sealed: Buffer
  created_at: Date
}
