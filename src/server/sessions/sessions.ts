import type { Clock, IdSource } from '../ports/clock.ts'
import type { Keyring } from '../ports/keyring.ts'
import { SESSION_ABSOLUTE_MS, type OpenedSession, type SessionDraft, type Sessions } from '../ports/sessions.ts'
import { fingerprintOf, isCookieValue, newCookieValue } from './cookie-value.ts'
import { endSessions } from './end-sessions.ts'
import { isLive, LIVE_MAX, toLiveSession } from './session.ts'
import * as store from './store.ts'

export interface SessionsDeps {
  readonly ids: IdSource
  readonly clock: Clock
  readonly keyring: Keyring
}

/** Keeps browser sessions. */
export function createSessions({ ids, clock, keyring }: SessionsDeps): Sessions {
  return {
    async open(change, draft) {
      const now = new Date(draft.nowMs)
      if (draft.replaces !== undefined && isCookieValue(draft.replaces)) {
        await endSessions(change, { fingerprint: fingerprintOf(draft.replaces) }, now)
      }
      await store.lockPerson(change.db, draft.principalId)
      const range = { principalId: draft.principalId, now, count: LIVE_MAX - 1 }
      for (const id of await store.deleteBeyond(change.db, range)) change.credentialChanged('session', id)
      const { record, opened } = newSession(ids.next(), draft)
      await store.insertSession(change.db, record)
      return opened
    },

    endAllOf: (change, principalId) => endSessions(change, { principalId }, new Date(clock.now())),
    endOthersOf: (change, principalId, exceptId) =>
      endSessions(change, { principalId, exceptId }, new Date(clock.now())),
    endAllOfBinding: (change, bindingId) => endSessions(change, { bindingId }, new Date(clock.now())),

    async find(db, cookie, nowMs) {
      if (!isCookieValue(cookie)) return undefined
      const found = await store.findByFingerprint(db, fingerprintOf(cookie))
      if (found === undefined || found.disabled_at !== null || !isLive(found, new Date(nowMs))) return undefined
      return toLiveSession(found)
    },

    csrfToken: (sessionId) => keyring.mac('session', `csrf:${sessionId}`).mac.toString('base64url'),
  }
}

function newSession(id: string, draft: SessionDraft): { record: store.SessionRecord; opened: OpenedSession } {
  const [now, expiresAtMs] = [new Date(draft.nowMs), draft.nowMs + SESSION_ABSOLUTE_MS]
  const cookie = newCookieValue()
  const record = {
    id,
    fingerprint: fingerprintOf(cookie),
    principal_id: draft.principalId,
    domain_id: draft.domainId,
    binding_id: draft.bindingId,
    acr: draft.acr ?? null,
    amr: [...draft.amr],
    auth_time: new Date(draft.authTimeMs),
    source_address: draft.sourceAddress,
    user_agent: draft.userAgent,
    created_at: now,
    last_seen_at: now,
    expires_at: new Date(expiresAtMs),
  }
  return { record, opened: { id, cookie, expiresAtMs } }
}
