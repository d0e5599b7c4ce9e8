import type { Generated } from 'kysely'
import type { Json } from './json.ts'

/** Tables of identity providers, browser sessions, device sign-ins and workload assertions. */
export interface SignInTables {
  idp_bindings: IdpBindingRow
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
