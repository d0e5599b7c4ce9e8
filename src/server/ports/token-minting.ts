import type { Change } from './unit-of-work.ts'

/** A token that a grant makes, for whoever proved who they are. */
export interface GrantedToken {
  readonly owner: { readonly id: string; readonly kind: 'user' | 'service-identity'; readonly domainId: string }
  readonly name: string
  readonly scopes: readonly string[]
  readonly lifetimeSeconds: number
  /** Left out of lists, and swept when it has expired. */
  readonly isHidden: boolean
  readonly nowMs: number
}

/** Issues an API token within a change: its row and its `APITokenIssued`. The plaintext is stored nowhere. */
export type MintGrantedToken = (
  change: Change,
  draft: GrantedToken,
) => Promise<{ readonly id: string; readonly token: string; readonly expiresAt: Date }>
