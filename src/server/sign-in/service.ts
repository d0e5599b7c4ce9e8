import type { signIn } from '../../shared/contract/sign-in.ts'
import { problem } from '../../shared/problems.ts'
import type { Handlers, RequestContext } from '../http/request-context.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { IdpBinding, IdpBindings } from '../ports/idp-bindings.ts'
import type { Issuers } from '../ports/issuers.ts'
import type { SecretStore } from '../ports/keyring.ts'
import { SESSION_COOKIE, type OpenedSession, type Sessions } from '../ports/sessions.ts'
import { arrive, type ArrivalDeps } from './arrival.ts'
import { hashOf, newAttempt, openSecrets, sealSecrets, SIGN_IN_TTL_MS } from './attempt.ts'
import { bindingCookie, clearedBindingCookie, sessionCookies, SIGN_IN_COOKIE } from './cookies.ts'
import { personOf, type Claims, type Person } from './person.ts'
import { createRelyingParty, type CallbackAnswer } from './relying-party.ts'
import { returnPathOf } from './return-path.ts'
import * as store from './store.ts'
import { authenticationOf, lackOf, maxAgeOf } from './strength.ts'

export interface SignInDeps extends ArrivalDeps {
  readonly datastore: Datastore
  readonly secrets: SecretStore
  readonly bindings: IdpBindings
  readonly issuers: Issuers
  readonly sessions: Sessions
  /** Origin of this server as browsers see it, without a slash at its end. */
  readonly baseUrl: string
  /** Sign-ins that may be open at the same time; 100,000 by default, rows of half a kilobyte. */
  readonly openMax?: number
}

const OPEN_MAX = 100_000

/** What was found out about who signs in, before anything is written. */
interface Proven {
  readonly begun: store.Begun
  readonly binding: IdpBinding
  readonly claims: Claims
  readonly person: Person
}

/** Serves the two ends of a sign-in with an identity provider; what becomes of its session is another's. */
export function createSignIn(deps: SignInDeps): Pick<Handlers<typeof signIn>, 'PostAuthSignIn' | 'GetAuthCallback'> {
  const { datastore, secrets, bindings, sessions, openMax = OPEN_MAX } = deps
  const relyingParty = createRelyingParty(deps)
  const db = () => datastore.pool('interactive')

  /** Takes the sign-in that this very browser began. It is gone after that, however it ends. */
  async function take(ctx: RequestContext, state: string): Promise<store.Begun> {
    const browser = ctx.browser.cookie(SIGN_IN_COOKIE)
    if (browser === undefined) throw problem('invalid_sign_in', {}, new Error('the browser did not begin a sign-in'))
    const begun = await store.takeBegun(db(), { state_hash: hashOf(state), browser_hash: hashOf(browser) })
    if (begun === undefined) throw problem('invalid_sign_in', {}, new Error('no such sign-in of this browser is open'))
    ctx.about(`domain:${begun.domain_id}`, begun.domain_id)
    ctx.cookie(clearedBindingCookie())
    if (begun.expires_at.getTime() <= ctx.nowMs) throw problem('sign_in_expired')
    return begun
  }

  /** Asks the provider who it is, and holds the answer against what the binding requires. */
  async function prove(ctx: RequestContext, answer: CallbackAnswer): Promise<Proven> {
    const begun = await take(ctx, answer.state)
    const binding = await bindings.find(db(), begun.binding_id)
    if (binding === undefined) throw problem('invalid_sign_in', {}, new Error('the binding is gone or switched off'))
    const { nowMs } = ctx
    const kept = await openSecrets(secrets, begun)
    const claims = await relyingParty.redeem(binding, answer, { ...kept, nowMs })
    const lack = lackOf(binding, claims, { maxAgeSeconds: kept.maxAgeSeconds, nowMs })
    if (lack !== undefined) throw problem('insufficient_authentication', {}, new Error(lack))
    const person = personOf(binding, claims)
    if (person === undefined) throw problem('sign_in_refused', {}, new Error('the claims name nobody'))
    await requireDomain(begun, binding, person)
    return { begun, binding, claims, person }
  }

  /** A provider that the platform shares may say which Domain somebody belongs to. */
  async function requireDomain({ domain_id }: store.Begun, binding: IdpBinding, { domains }: Person): Promise<void> {
    if (binding.domainId !== null || binding.claims.domain === null) return
    const slug = await store.findSlug(db(), domain_id)
    const isNamed = domains.includes(domain_id) || (slug !== undefined && domains.includes(slug))
    if (!isNamed) throw problem('sign_in_refused', {}, new Error('the claims name another Domain, or none'))
  }

  /** Lets the person in: user, groups, session and what is said of them are one change. */
  function letIn(ctx: RequestContext, { begun, binding, claims, person }: Proven) {
    const { domain_id: domainId } = begun
    return ctx.change(async (change) => {
      const at = new Date(ctx.nowMs)
      const onKnown = (id: string): void => ctx.about(`user:${id}`, domainId)
      const { user, isNew, mirroring } = await arrive(deps, change, { domainId, binding, person, at, onKnown })
      const session = await sessions.open(change, {
        principalId: user.id,
        domainId,
        bindingId: binding.id,
        ...authenticationOf(claims, ctx.nowMs),
        sourceAddress: ctx.sourceAddress,
        userAgent: ctx.browser.userAgent,
        replaces: ctx.browser.cookie(SESSION_COOKIE),
        nowMs: ctx.nowMs,
      })
      const subject = `user:${user.id}`
      const payload = { user_id: user.id, binding_id: binding.id, session_id: session.id }
      change.emit({ event: 'identity.UserSignedIn', domainId, aggregate: subject, payload })
      ctx.about(subject, domainId)
      ctx.note({ provisioned: isNew, groups_added: mirroring.added, groups_removed: mirroring.removed })
      if (mirroring.full > 0) ctx.note({ groups_full: mirroring.full })
      return { subject, session }
    })
  }

  function giveSession(ctx: RequestContext, session: OpenedSession): void {
    const csrfToken = sessions.csrfToken(session.id)
    for (const cookie of sessionCookies({ cookie: session.cookie, csrfToken })) ctx.cookie(cookie)
  }

  return {
    async PostAuthSignIn(ctx, { body }) {
      const { return_to, max_age_seconds, ...where } = body
      const { domainId, binding } = await bindings.choose(db(), where)
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
    },

    async GetAuthCallback(ctx, answer) {
      ctx.header('Cache-Control', 'no-store')
      if (answer.code === undefined && answer.error === undefined) throw problem('invalid_query')
      const proven = await prove(ctx, answer)
      const { subject, session } = await letIn(ctx, proven)
      giveSession(ctx, session)
      const { return_to, domain_id } = proven.begun
      if (ctx.browser.prefersHtml) {
        ctx.status(303)
        ctx.header('Location', return_to)
      }
      return { subject, domain_id, return_to }
    },
  }
}
