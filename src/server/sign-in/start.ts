import { problem } from '../../shared/problems.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { IdpBindings, WhereToSignIn } from '../ports/idp-bindings.ts'
import type { SecretStore } from '../ports/keyring.ts'
import { hashOf, newAttempt, sealSecrets, SIGN_IN_TTL_MS } from './attempt.ts'
import { bindingCookie } from './cookies.ts'
import type { RelyingParty, RelyingPartyDeps } from './relying-party.ts'
import { returnPathOf } from './return-path.ts'
import * as store from './store.ts'
import { maxAgeOf } from './strength.ts'

export interface StartDeps extends Pick<RelyingPartyDeps, 'datastore'> {
  readonly secrets: SecretStore
  readonly bindings: Pick<IdpBindings, 'choose'>
  readonly relyingParty: Pick<RelyingParty, 'authorizationUrl'>
  /** Sign-ins that may be open at the same time; 100,000 by default, rows of half a kilobyte. */
  readonly openMax?: number
}

const OPEN_MAX = 100_000

/** What beginning a sign-in needs of the request that asks for it: an operation's, or a page's. */
export type StartContext = Pick<RequestContext, 'nowMs' | 'about' | 'change' | 'cookie' | 'header'>

/** How a sign-in is to be. */
export interface StartOrder extends WhereToSignIn {
  readonly return_to?: string | undefined
  readonly max_age_seconds?: number | undefined
}

/** Where the browser goes, and what the sign-in is called. */
export interface Started {
  readonly authorization_url: string
  readonly state: string
  readonly expires_at: string
}

/** Begins a sign-in. @throws Problem as choosing a binding does; `idp_unavailable`, `rate_limited` */
export type StartSignIn = (ctx: StartContext, order: StartOrder) => Promise<Started>

/** Makes the beginning of sign-ins. */
export function createSignInStart(deps: StartDeps): StartSignIn {
  const { datastore, secrets, bindings, relyingParty, openMax = OPEN_MAX } = deps
  return async (ctx, { return_to, max_age_seconds, ...where }) => {
    const { domainId, binding } = await bindings.choose(datastore.pool('interactive'), where)
    ctx.about(`domain:${domainId}`, domainId)
    const attempt = newAttempt(maxAgeOf(binding, max_age_seconds))
    const authorizationUrl = await relyingParty.authorizationUrl(binding, attempt, ctx.nowMs)
    const begun: store.Begun = {
      state_hash: hashOf(attempt.state),
      browser_hash: hashOf(attempt.browser),
      binding_id: binding.id,
      domain_id: domainId,
      sealed: await sealSecrets(secrets, attempt),
      return_to: returnPathOf(return_to),
      created_at: new Date(ctx.nowMs),
      expires_at: new Date(ctx.nowMs + SIGN_IN_TTL_MS),
    }
    await ctx.change(async (change) => {
      const isFull = await store.areOpen(change.db, openMax, begun.created_at)
      if (isFull) throw problem('rate_limited', { retry_after_seconds: 60 })
      if (!(await store.holdPlace(change.db, begun))) throw problem('idp_binding_not_found')
      await store.insertBegun(change.db, begun)
    })
    ctx.cookie(bindingCookie(attempt.browser))
    ctx.header('Cache-Control', 'no-store')
    const expires_at = begun.expires_at.toISOString()
    return { authorization_url: authorizationUrl, state: attempt.state, expires_at }
  }
}
