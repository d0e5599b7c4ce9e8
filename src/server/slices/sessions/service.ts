import type { Result } from '../../../shared/contract/operation-types.ts'
import type { signIn } from '../../../shared/contract/sign-in.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import { CLEARED_COOKIES } from '../../http/auth/session-cookies.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { SESSION_COOKIE, type Sessions, type SigningOut } from '../../ports/sessions.ts'
import { fingerprintOf, isCookieValue } from './cookie-value.ts'
import { idleEnd } from './session.ts'
import * as store from './store.ts'

type SignIn = typeof signIn
type SessionView = Result<SignIn['operations']['GetAuthSessions']>[number]

/** The operations on sessions that exist; those that begin one are elsewhere. */
export type SessionOperations = Pick<
  Handlers<SignIn>,
  'DeleteAuthSession' | 'PostAuthSignOutGlobal' | 'GetAuthSessions' | 'DeleteAuthSessionByID'
>

export interface SessionOperationsDeps {
  readonly datastore: Datastore
  readonly sessions: Pick<Sessions, 'signOut'>
}

/** Sessions listed at most; no more than a quarter of them can be live. */
const LISTED_MAX = 200

/** Serves callers' own sessions. A session of somebody else is answered like one that does not exist. */
export function createSessionOperations({ datastore, sessions }: SessionOperationsDeps): SessionOperations {
  return {
    async DeleteAuthSession(ctx) {
      forgetCookies(ctx)
      const cookie = ctx.browser.cookie(SESSION_COOKIE)
      if (cookie === undefined || !isCookieValue(cookie)) return
      const found = await store.findByFingerprint(datastore.pool('interactive'), fingerprintOf(cookie))
      if (found === undefined) return
      const { id, principal_id: principalId, domain_id: domainId } = found
      ctx.about(`user:${principalId}`, domainId)
      await ctx.change((change) => sessions.signOut(change, { id, principalId, domainId }, here(ctx)))
    },

    async PostAuthSignOutGlobal(ctx) {
      const { credential, id: principalId, domainId } = ctx.caller
      if (credential.kind !== 'session') throw problem('session_required')
      await ctx.change(async (change) => {
        const session = { id: credential.id, principalId, domainId }
        const revoked = await sessions.signOut(change, session, { ...here(ctx), everywhere: true })
        ctx.note({ sessions_revoked: revoked })
      })
      forgetCookies(ctx)
    },

    async GetAuthSessions(ctx) {
      const range = { principalId: ctx.caller.id, now: new Date(ctx.nowMs), count: LISTED_MAX }
      const listed = await store.listLive(datastore.pool('interactive'), range)
      ctx.note({ item_count: listed.length })
      return listed.map((session) => toView(session, ctx))
    },

    async DeleteAuthSessionByID(ctx, { id }) {
      const { id: principalId, domainId } = ctx.caller
      await ctx.change(async (change) => {
        const ended = await sessions.signOut(change, { id, principalId, domainId }, here(ctx))
        if (ended === 0) throw problem('session_not_found')
      })
    },
  }
}

const here = ({ nowMs }: RequestContext): SigningOut => ({ everywhere: false, at: new Date(nowMs) })

/** First of all: the browser is signed out even if the other steps fail. */
function forgetCookies(ctx: RequestContext): void {
  for (const cookie of CLEARED_COOKIES) ctx.cookie(cookie)
}

function toView(session: store.SessionRecord, { caller: { credential } }: RequestContext): SessionView {
  return {
    id: session.id,
    current: credential.kind === 'session' && credential.id === session.id,
    created_at: session.created_at.toISOString(),
    last_seen_at: session.last_seen_at.toISOString(),
    expires_at: session.expires_at.toISOString(),
    idle_expires_at: idleEnd(session.last_seen_at, session.expires_at).toISOString(),
    auth_time: session.auth_time.toISOString(),
    acr: session.acr,
    amr: session.amr,
    source_address: session.source_address,
    user_agent: session.user_agent,
  }
}
