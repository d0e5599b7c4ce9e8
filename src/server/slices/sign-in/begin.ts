import { problem } from '../../../shared/problems.ts'
import type { Cookie } from '../../http/cookies.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { IdpBindings, WhereToSignIn } from '../../ports/idp-bindings.ts'
import type { Sealing } from '../../ports/keyring.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { hashOf, newAttempt, sealSecrets, SIGN_IN_TTL_MS } from './attempt.ts'
import { bindingCookie } from './cookies.ts'
import type { RelyingParty } from './relying-party.ts'
import { returnPathOf } from './return-path.ts'
import * as store from './store.ts'
import { demandOf, type AskedSignIn } from './authentication-strength.ts'

export interface BeginDeps {
  readonly datastore: Datastore
  readonly sealing: Sealing
  readonly bindings: IdpBindings
  readonly relyingParty: RelyingParty
  /** Sign-ins that may be open at the same time; 100,000 by default, rows of half a kilobyte. */
  readonly openMax?: number | undefined
}

/** Where somebody wants to sign in, and the return address. */
export interface BeginOrder {
  readonly where: WhereToSignIn
  readonly returnTo: string | undefined
  readonly asked: AskedSignIn
  readonly nowMs: number
}

/** A prepared sign-in: what leaves the server, and the row to store. */
export interface Beginning {
  readonly domainId: string
  readonly authorizationUrl: string
  readonly state: string
  readonly expiresAt: Date
  /** Binds it to the browser. */
  readonly cookie: Cookie
  readonly begun: store.Begun
}

const OPEN_MAX = 100_000

/** Chooses the binding of a sign-in. Nothing is written yet. @throws Problem as choosing a binding does, `idp_unavailable` */
export async function prepare(deps: BeginDeps, order: BeginOrder): Promise<Beginning> {
  const { domainId, binding } = await deps.bindings.choose(deps.datastore.pool('interactive'), order.where)
  const attempt = newAttempt(demandOf(binding, order.asked))
  const authorizationUrl = await deps.relyingParty.authorizationUrl(binding, attempt, order.nowMs)
  const expiresAt = new Date(order.nowMs + SIGN_IN_TTL_MS)
  const begun: store.Begun = {
    state_hash: hashOf(attempt.state),
    browser_hash: hashOf(attempt.browser),
    binding_id: binding.id,
    domain_id: domainId,
    sealed: await sealSecrets(deps.sealing, attempt),
    return_to: returnPathOf(order.returnTo),
    created_at: new Date(order.nowMs),
    expires_at: expiresAt,
  }
  const cookie = bindingCookie(attempt.browser)
  return { domainId, authorizationUrl, state: attempt.state, expiresAt, cookie, begun }
}

/** Stores a sign-in until its callback. @throws Problem `rate_limited` when too many are open, `idp_binding_not_found` */
export async function keep({ openMax = OPEN_MAX }: BeginDeps, { db }: Change, { begun }: Beginning): Promise<void> {
  if (await store.areOpen(db, openMax, begun.created_at)) throw problem('rate_limited', { retry_after_seconds: 60 })
  if (!(await store.holdPlace(db, begun))) throw problem('idp_binding_not_found')
  await store.insertBegun(db, begun)
}
