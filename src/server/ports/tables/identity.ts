import type { Generated } from 'kysely'
import type { Json } from './json.ts'

/** Tables of users, service identities, their tokens and the accounts of the bundled provider. */
export interface IdentityTables {
  principals: PrincipalRow
  api_tokens: ApiTokenRow
  local_accounts: LocalAccountRow
}

export interface PrincipalRow {
  id: string
  domain_id: string
  kind: 'user' | 'service-identity'
  display_name: string
  /** Sealed external subject; the plaintext shows only to auditors. */
  subject_sealed: Buffer
  /** HMAC-SHA-256 of (Domain, subject) in hex: the pseudonym, and the key that makes a subject unique in its Domain. */
  subject_pseudonym: string
  email: string | null
  jwks: Json<unknown> | null
  spiffe_id: string | null
  last_sign_in_at: Date | null
  /** Of a user: the binding of its first sign-in. */
  binding_id: Generated<string | null>
  /** Since when it may not sign in; null while it may. */
  disabled_at: Generated<Date | null>
  created_at: Date
  updated_at: Date
}

export interface ApiTokenRow {
  id: string
  domain_id: string
  owner_id: string
  owner_kind: 'user' | 'service-identity'
  name: string
  prefix: string
  fingerprint: Buffer
  fingerprint_key_id: string
  scopes: Json<string[]>
  lifetime_seconds: number
  created_at: Date
  expires_at: Date
  last_used_at: Date | null
  revoked_at: Date | null
  rotated_to: string | null
  /** Not shown in lists: tokens of the token endpoint. */
  hidden: boolean
  /** The owner made it for itself: with a browser session, by the device flow, or with another such token. */
  self_issued: Generated<boolean>
  /** How the person who approved it by the device flow was signed in; null for every other token. */
  acr: Generated<string | null>
  auth_time: Generated<Date | null>
}

export interface LocalAccountRow {
  id: string
  login: string
  display_name: string
  email: string | null
  domain_id: string
  principal_id: string
  /** scrypt with its parameters and salt, as text. */
  password_hash: string
  must_change_password: boolean
  /** The shared secret of the authenticator app; null without one. */
  totp_sealed: Buffer | null
  /** The last time step that was used: none is good twice (RFC 6238 §5.2). */
  totp_last_step: string | null
  totp_enrolled_at: Generated<Date | null>
  failed_count: Generated<number>
  locked_until: Date | null
  disabled_at: Date | null
  /** When somebody else last reset its password or second factors; null where nobody did. */
  changed_by_other_at: Generated<Date | null>
  /** The provider's state of sign-ins before this instant is void. */
  signed_out_at: Generated<Date | null>
  last_sign_in_at: Date | null
  created_at: Date
  updated_at: Date
}
