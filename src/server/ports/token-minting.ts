import type { Change } from './unit-of-work.ts'

/** A token that a grant makes, for anyone who proved who they are. */
export interface GrantedToken {
  readonly owner: { readonly id: string; readonly kind: 'user' | 'service-identity'; readonly domainId: string }
  /** 1 to 128 characters. */
  readonly name: string
  /** `*` or `<surface>:read|write`. */
  readonly scopes: readonly string[]
  readonly lifetimeSeconds: number
  /** Left out of lists and of the limit of live tokens, and swept when it has expired. */
  readonly isHidden: boolean
  /** Whether its owner, a person, has just asked for it and alone receives it. */
  readonly isSelfIssued: boolean
  /** How the person who approved it was signed in, where one did. */
  readonly approvedBy?: { readonly acr: string | null; readonly authTime: Date | null }
  readonly nowMs: number
}

/**
 * Issues an API token within a change: its row and its `APITokenIssued`. The plaintext is stored nowhere.
 *
 * @throws Problem `invalid_grant` when the owner is gone or disabled, `invalid_scope` when a scope names no surface,
 * `token_limit_exceeded`. What the change wrote before is for the caller to roll back: let it through.
 */
export type MintGrantedToken = (
  change: Change,
  draft: GrantedToken,
) => Promise<{ readonly id: string; readonly token: string; readonly expiresAt: Date }>
