import { problem } from '../../../shared/problems.ts'
import type { MintGrantedToken } from '../../ports/token-minting.ts'
import { issueToken } from './change-tokens.ts'
import type { MintToken } from './mint.ts'
import { requireScopes } from './scopes.ts'
import { isDisabled } from './store.ts'
import { lifetimeFrom } from './token.ts'

/** Creates the tokens of grants, like issued ones; only hidden ones are exempt from the limit of live tokens. */
export function createGrantedTokens({ mint }: { readonly mint: MintToken }): MintGrantedToken {
  return async (change, { owner, scopes, lifetimeSeconds, nowMs, ...draft }) => {
    const lifetime = lifetimeFrom(nowMs, lifetimeSeconds)
    const createdAt = new Date(nowMs)
    const order = { ...draft, owner, scopes: requireScopes(scopes), lifetime, createdAt }
    const minted = await issueToken(change, mint, order)
    if (minted === undefined || (await isDisabled(change.db, owner.id))) throw problem('invalid_grant')
    return { id: minted.record.id, token: minted.token, expiresAt: minted.record.expires_at }
  }
}
