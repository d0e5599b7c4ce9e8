import { mintApiToken } from '../../../shared/credential-formats.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Keyring } from '../../ports/keyring.ts'
import type { GrantedToken } from '../../ports/token-minting.ts'
import type { OwnerRecord, TokenRecord } from './store.ts'
import type { Lifetime } from './token.ts'

/** The properties of a new token. */
export interface TokenDraft {
  readonly owner: OwnerRecord
  readonly name: string
  readonly scopes: readonly string[]
  readonly lifetime: Lifetime
  readonly createdAt: Date
  /** Left out of lists and of the limit of live tokens; false by default. */
  readonly isHidden?: boolean
  /** Whether the owner makes it for itself, with a credential that nobody else has; false by default. */
  readonly isSelfIssued?: boolean
  /** How the person who approved it by the device flow was signed in; absent for every other token. */
  readonly approvedBy?: GrantedToken['approvedBy']
}

/** A new token: its row, and the plaintext that leaves the server once and is stored nowhere. */
export interface Minted {
  readonly record: TokenRecord
  readonly token: string
}

export type MintToken = (draft: TokenDraft) => Minted

export interface MintDeps {
  readonly ids: IdSource
  readonly keyring: Keyring
  /** Names the installation in the token (decisions: Credentials). */
  readonly env: string
}

/** Creates tokens. Only the beginning and the HMAC-SHA-256 under the ring's fingerprint key are stored. */
export function createMint({ ids, keyring, env }: MintDeps): MintToken {
  return ({ owner, name, scopes, lifetime, createdAt, isHidden = false, isSelfIssued = false, approvedBy }) => {
    const id = ids.next()
    const { token, prefix } = mintApiToken(env, id)
    const { keyId, mac } = keyring.mac('fingerprint', token)
    const record = {
      id,
      domain_id: owner.domainId,
      owner_id: owner.id,
      owner_kind: owner.kind,
      name,
      prefix,
      fingerprint: mac,
      fingerprint_key_id: keyId,
      scopes: [...scopes],
      lifetime_seconds: lifetime.seconds,
      created_at: createdAt,
      expires_at: lifetime.expiresAt,
      last_used_at: null,
      revoked_at: null,
      rotated_to: null,
      hidden: isHidden,
      self_issued: isSelfIssued,
      acr: approvedBy?.acr ?? null,
      auth_time: approvedBy?.authTime ?? null,
    }
    return { record, token }
  }
}
