import type { signIn } from '../../../shared/contract/sign-in.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { IdpBinding } from '../../ports/idp-bindings.ts'
import { SESSION_COOKIE, type OpenedSession, type Sessions } from '../../ports/sessions.ts'
import { findOrProvision, type ProvisioningDeps } from './provisioning.ts'
import { hashOf, openSecrets } from './attempt.ts'
import { keep, prepare, type BeginDeps } from './begin.ts'
import { sessionCookies } from '../../http/auth/session-cookies.ts'
import { clearedBindingCookie, SIGN_IN_COOKIE } from './cookies.ts'
import { personOf, type Claims, type Person } from './person.ts'
import type { CallbackAnswer } from './relying-party.ts'
import * as store from './store.ts'
import { authenticationOf, lackOf } from './authentication-strength.ts'

export interface SignInDeps extends ProvisioningDeps, BeginDeps {
  readonly sessions: Sessions
}

/** The facts about the person who signs in, before anything is written. */
interface Proven {
  readonly begun: store.Begun
  readonly binding: IdpBinding
  readonly claims: Claims
  readonly idToken: string
  readonly person: Person
}

/** Serves the start and the callback of a sign-in with an identity provider. */
export function createSignIn(deps: SignInDeps): Pick<Handlers<typeof signIn>, 'PostAuthSignIn' | 'GetAuthCallback'> {
  const { datastore, sealing, bindings, sessions, relyingParty } = deps
  const db = () => datastore.pool('interactive')

  /** Takes and deletes the sign-in that this browser began, whatever its result. */
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

  /** Fetches the person's claims from the provider, and checks them against the binding's requirements. */
  async function prove(ctx: RequestContext, answer: CallbackAnswer): Promise<Proven> {
    const begun = await take(ctx, answer.state)
    const binding = await bindings.find(db(), begun.binding_id)
    if (binding === undefined) throw problem('invalid_sign_in', {}, new Error('the binding is gone or switched off'))
    const { nowMs } = ctx
    const kept = await openSecrets(sealing, begun)
    const { claims, idToken } = await relyingParty.redeem(binding, answer, { ...kept, nowMs })
    const lack = lackOf(binding, claims, { ...kept, nowMs })
    if (lack !== undefined) throw problem('insufficient_authentication', {}, new Error(lack))
    const person = personOf(binding, claims)
    if (person === undefined) throw problem('sign_in_refused', {}, new Error('the claims name nobody'))
    await requireDomain(begun, binding, person)
    return { begun, binding, claims, idToken, person }
  }

  /** A platform-shared provider may name the Domain of a person. */
  async function requireDomain({ domain_id }: store.Begun, binding: IdpBinding, { domains }: Person): Promise<void> {
    if (binding.domainId !== null || binding.claims.domain === null) return
    const slug = await store.findSlug(db(), domain_id)
    const isNamed = domains.includes(domain_id) || (slug !== undefined && domains.includes(slug))
    if (!isNamed) throw problem('sign_in_refused', {}, new Error('the claims name another Domain, or none'))
  }

  /** Signs the person in: user, groups, session and their events are one transaction. */
  function letIn(ctx: RequestContext, { begun, binding, claims, idToken, person }: Proven) {
    const { domain_id: domainId } = begun
    return ctx.change(async (change) => {
      const at = new Date(ctx.nowMs)
      const onKnown = (id: string): void => ctx.about(`user:${id}`, domainId)
      const { user, isNew, mirroring } = await findOrProvision(deps, change, { domainId, binding, person, at, onKnown })
      const session = await sessions.open(change, {
        principalId: user.id,
        domainId,
        bindingId: binding.id,
        ...authenticationOf(claims, ctx.nowMs),
        sourceAddress: ctx.sourceAddress,
        userAgent: ctx.browser.userAgent,
        replaces: ctx.browser.cookie(SESSION_COOKIE),
        // The bundled provider needs no ID token for a sign-out.
        idToken: binding.isBundled ? undefined : idToken,
        nowMs: ctx.nowMs,
      })
      const subject = `user:${user.id}`
      const payload = { user_id: user.id, binding_id: binding.id, session_id: session.id }
      change.emit({ event: 'identity.UserSignedIn', domainId, aggregate: subject, payload })
      ctx.about(subject, domainId)
      ctx.note({ provisioned: isNew, groups_added: mirroring.added, groups_removed: mirroring.removed })
      if (mirroring.full > 0) ctx.note({ groups_full: mirroring.full })
      if (mirroring.held > 0) ctx.note({ groups_held: mirroring.held })
      return { subject, session }
    })
  }

  function giveSession(ctx: RequestContext, session: OpenedSession): void {
    const csrfToken = sessions.csrfToken(session.id)
    for (const cookie of sessionCookies({ cookie: session.cookie, csrfToken })) ctx.cookie(cookie)
  }

  return {
    async PostAuthSignIn(ctx, { body }) {
      const { return_to, acr_values, max_age, max_age_seconds, ...where } = body
      const asked = {
        acrValues: acr_values?.split(' '),
        maxAgeSeconds: max_age ?? max_age_seconds,
        mustStateTime: max_age !== undefined,
      }
      const order = { where, returnTo: return_to, asked, nowMs: ctx.nowMs }
      const beginning = await prepare(deps, order)
      ctx.about(`domain:${beginning.domainId}`, beginning.domainId)
      await ctx.change((change) => keep(deps, change, beginning))
      ctx.cookie(beginning.cookie)
      const { authorizationUrl, state, expiresAt } = beginning
      return { authorization_url: authorizationUrl, state, expires_at: expiresAt.toISOString() }
    },

    async GetAuthCallback(ctx, answer) {
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
