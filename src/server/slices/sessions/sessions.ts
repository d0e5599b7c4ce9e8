import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Keyring, SealedPlace, Sealing } from '../../ports/keyring.ts'
import {
  SESSION_ABSOLUTE_MS,
  type ForgetSignIns,
  type OpenedSession,
  type SessionDraft,
  type Sessions,
} from '../../ports/sessions.ts'
import { fingerprintOf, isCookieValue, newCookieValue } from './cookie-value.ts'
import { endSessions } from './end-sessions.ts'
import { isLive, LIVE_MAX, toLiveSession } from './session.ts'
import * as store from './store.ts'

export interface SessionsDeps {
  readonly ids: IdSource
  readonly clock: Clock
  readonly keyring: Keyring
  readonly sealing: Sealing
  /** Undefined where the bundled provider is off. */
  readonly forgetSignIns?: ForgetSignIns | undefined
}

/** Longer ID tokens are not stored: they would not fit into the sign-out address. */
const ID_TOKEN_LENGTH_MAX = 6000

/** Keeps browser sessions. */
export function createSessions({ ids, clock, keyring, sealing, forgetSignIns }: SessionsDeps): Sessions {
  return {
    async open(change, draft) {
      const now = new Date(draft.nowMs)
      if (draft.replaces !== undefined && isCookieValue(draft.replaces)) {
        await endSessions(change, { fingerprint: fingerprintOf(draft.replaces) }, now)
      }
      await store.lockPerson(change.db, draft.principalId)
      const range = { principalId: draft.principalId, now, count: LIVE_MAX - 1 }
      for (const id of await store.deleteBeyond(change.db, range)) change.credentialChanged('session', id)
      const id = ids.next()
      const { record, opened } = newSession(id, draft, await sealedIn(sealing, id, draft.idToken))
      await store.insertSession(change.db, record)
      return opened
    },

    endAllOf: (change, principalId) => endSessions(change, { principalId }, new Date(clock.now())),
    endOthersOf: (change, principalId, exceptId) =>
      endSessions(change, { principalId, exceptId }, new Date(clock.now())),
    endAllOfBinding: (change, bindingId) => endSessions(change, { bindingId }, new Date(clock.now())),

    async toSignOut(db, cookie) {
      const found = isCookieValue(cookie) ? await store.findByFingerprint(db, fingerprintOf(cookie)) : undefined
      if (found === undefined) return undefined
      const {
        id,
        principal_id: principalId,
        domain_id: domainId,
        binding_id: bindingId,
        id_token_sealed: sealed,
      } = found
      const idToken = async () => (sealed === null ? undefined : String(await sealing.open(idTokenPlace(id), sealed)))
      return { id, principalId, domainId, bindingId, idToken }
    },

    async signOut(change, { id, principalId, domainId }, { everywhere, at }) {
      await forgetSignIns?.(change, principalId, at)
      const revoked = await endSessions(change, everywhere ? { principalId } : { id, principalId }, at)
      if (everywhere) {
        const payload = { sessions_revoked: revoked }
        change.emit({ event: 'identity.UserSignedOut', domainId, aggregate: `user:${principalId}`, payload })
      }
      return revoked
    },

    async find(db, cookie, nowMs) {
      if (!isCookieValue(cookie)) return undefined
      const found = await store.findByFingerprint(db, fingerprintOf(cookie))
      if (found === undefined || found.disabled_at !== null || !isLive(found, new Date(nowMs))) return undefined
      return toLiveSession(found)
    },

    csrfToken: (sessionId) => keyring.mac('session', `csrf:${sessionId}`).mac.toString('base64url'),
  }
}

/** Where the ID token of a session is sealed. */
export const idTokenPlace = (rowId: string): SealedPlace => ({ table: 'sessions', column: 'id_token_sealed', rowId })

async function sealedIn(sealing: Sealing, id: string, idToken: string | undefined): Promise<Buffer | null> {
  if (idToken === undefined || idToken.length > ID_TOKEN_LENGTH_MAX) return null
  return sealing.seal(idTokenPlace(id), Buffer.from(idToken, 'utf8'))
}

interface Opening {
  readonly record: store.SessionRecord
  readonly opened: OpenedSession
}

function newSession(id: string, draft: SessionDraft, sealedIdToken: Buffer | null): Opening {
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
    auth_time_stated: draft.isAuthTimeAssumed !== true,
    source_address: draft.sourceAddress,
    user_agent: draft.userAgent,
    created_at: now,
    last_seen_at: now,
    expires_at: new Date(expiresAtMs),
    id_token_sealed: sealedIdToken,
  }
  return { record, opened: { id, cookie, expiresAtMs } }
}
