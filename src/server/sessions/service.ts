import type { Result } from '../../shared/contract/operation.ts'
import type { signIn } from '../../shared/contract/sign-in.ts'
import { problem } from '../../shared/problems.ts'
import type { Handlers, RequestContext } from '../http/request-context.ts'
import { CLEARED_COOKIES } from '../http/session-cookies.ts'
import type { Datastore } from '../ports/datastore.ts'
import { SESSION_COOKIE, type ForgetSignIns } from '../ports/sessions.ts'
import { fingerprintOf, isCookieValue } from './cookie-value.ts'
import { endSessions } from './end-sessions.ts'
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
  /** Undefined where the server brings no provider. */
  readonly forgetSignIns?: ForgetSignIns | undefined
}

/** Sessions listed at most; no more than a quarter of them can be live. */
const LISTED_MAX = 200

/** Serves callers' own sessions. Another's session and one that does not exist look alike. */
export function createSessionOperations({ datastore, forgetSignIns }: SessionOperationsDeps): SessionOperations {
  return {
    async DeleteAuthSession(ctx) {
      forgetCookies(ctx)
      const cookie = ctx.browser.cookie(SESSION_COOKIE)
      if (cookie === undefined || !isCookieValue(cookie)) return
      const fingerprint = fingerprintOf(cookie)
      const session = await store.findByFingerprint(datastore.pool('interactive'), fingerprint)
      if (session === undefined) return
      ctx.about(`user:${session.principal_id}`, session.domain_id)
      await ctx.change(async (change) => {
        const at = new Date(ctx.nowMs)
        await forgetSignIns?.(change, session.principal_id, at)
        await endSessions(change, { fingerprint }, at)
      })
    },

    async PostAuthSignOutGlobal(ctx) {
      const { caller } = ctx
      if (caller.credential.kind !== 'session') throw problem('session_required')
      await ctx.change(async (change) => {
        const at = new Date(ctx.nowMs)
        await forgetSignIns?.(change, caller.id, at)
        const revoked = await endSessions(change, { principalId: caller.id }, at)
        change.emit({
          event: 'identity.UserSignedOut',
          domainId: caller.domainId,
          aggregate: caller.subject,
          payload: { sessions_revoked: revoked },
        })
        ctx.note({ sessions_revoked: revoked })
      })
      forgetCookies(ctx)
    },

    async GetAuthSessions(ctx) {
      const range = { principalId: ctx.caller.id, now: new Date(ctx.nowMs), count: LISTED_MAX }
      const sessions = await store.listLive(datastore.pool('interactive'), range)
      ctx.note({ item_count: sessions.length })
      return sessions.map((session) => toView(session, ctx))
    },

    async DeleteAuthSessionByID(ctx, { id }) {
      await ctx.change(async (change) => {
        const at = new Date(ctx.nowMs)
        await forgetSignIns?.(change, ctx.caller.id, at)
        const ended = await endSessions(change, { id, principalId: ctx.caller.id }, at)
        if (ended === 0) throw problem('session_not_found')
      })
    },
  }
}

/** Before anything else is done: a browser that asks to be signed out is, whatever becomes of the rest. */
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
