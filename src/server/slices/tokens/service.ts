import type { tokens } from '../../../shared/contract/tokens.ts'
import { problem } from '../../../shared/problems.ts'
import { isOwnCredential } from '../../http/auth/own-credential.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { issueToken, revokeToken, rotateToken } from './change-tokens.ts'
import { answerIssued, answerRotated, toWhoami } from './answers.ts'
import { listedTokens } from './listing.ts'
import type { MintToken } from './mint.ts'
import { ownerOfCaller } from './owner.ts'
import { areScopesWithin, requireScopes } from './scopes.ts'
import * as store from './store.ts'
import { lifetimeWithin } from './token.ts'

export interface TokensDeps {
  readonly datastore: Datastore
  readonly mint: MintToken
}

/** Serves callers' own API tokens. A token of somebody else is answered like one that does not exist. */
export function createTokens({ datastore, mint }: TokensDeps): Handlers<typeof tokens> {
  return {
    async PostAuthTokens(ctx, { body }) {
      const scopes = requireScopes(body.scopes)
      if (!areScopesWithin(scopes, ctx.caller.credential.scopes)) throw problem('scope_exceeds_caller')
      const lifetime = lifetimeWithin(ctx.caller.credential, ctx.nowMs, body.expires_in_seconds)
      const owner = ownerOfCaller(ctx.caller)
      const isSelfIssued = isOwnCredential(ctx.caller)
      const order = { owner, name: body.name, scopes, lifetime, createdAt: new Date(ctx.nowMs), isSelfIssued }
      const issued = await ctx.change(async (change) => {
        const minted = await issueToken(change, mint, order)
        if (minted === undefined) throw problem('unauthenticated')
        return minted
      })
      return answerIssued(ctx, issued, '/v1/auth/tokens')
    },

    GetAuthTokens(ctx) {
      return listedTokens(datastore.pool('interactive'), ctx.caller.id, ctx.nowMs)
    },

    async DeleteAuthTokenByID(ctx, { id }) {
      await ctx.change(async (change) => {
        await revokeToken(change, await lockOwn(change, ctx, id), new Date(ctx.nowMs))
      })
    },

    async PostAuthTokenRotate(ctx, { id, body }) {
      const rotated = await ctx.change(async (change) => {
        const old = await lockOwn(change, ctx, id)
        if (old.hidden) throw problem('token_not_found')
        if (!areScopesWithin(old.scopes, ctx.caller.credential.scopes)) throw problem('scope_exceeds_caller')
        const isSelfIssued = isOwnCredential(ctx.caller)
        return rotateToken(change, mint, { old, nowMs: ctx.nowMs, graceSeconds: body.grace_seconds, isSelfIssued })
      })
      return answerRotated(ctx, rotated)
    },

    async GetAuthWhoami(ctx) {
      const domain = await store.findDomainNames(datastore.pool('interactive'), ctx.caller.domainId)
      if (domain === undefined) throw problem('unauthenticated')
      return toWhoami(ctx.caller, domain)
    },
  }
}

async function lockOwn(change: Change, ctx: RequestContext, id: string): Promise<store.TokenRecord> {
  const token = await store.lockToken(change.db, id)
  if (token === undefined || token.owner_id !== ctx.caller.id) throw problem('token_not_found')
  return token
}
