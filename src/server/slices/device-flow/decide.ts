import { problem } from '../../../shared/problems.ts'
import type { Db } from '../../ports/datastore.ts'
import { isSignInRecent } from '../../http/auth/recent-sign-in.ts'
import { stepUpRequired } from '../../http/auth/step-up.ts'
import type { SignedIn } from '../../http/auth/wanted-sign-in.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import { isUndecided, lackingFor } from './device-sign-in.ts'
import * as store from './store.ts'
import { normalizeUserCode } from './user-code.ts'
import type { WrongCodes } from './wrong-codes.ts'

export type Verdict = 'approved' | 'denied'

/** The browser session that decides. */
export interface DecidingSession extends SignedIn {
  readonly id: string
  readonly principalId: string
  readonly domainId: string
}

/** The session of a caller that has one. */
export function decidingSession({ id, domainId, credential, ...signedIn }: Caller): DecidingSession {
  const { acr, authTimeMs, isAuthTimeAssumed } = signedIn
  return {
    id: credential.id,
    principalId: id,
    domainId,
    ...(acr !== undefined && { acr }),
    ...(authTimeMs !== undefined && { authTimeMs }),
    ...(isAuthTimeAssumed !== undefined && { isAuthTimeAssumed }),
  }
}

export interface DecideDeps {
  readonly db: Db
  readonly wrongCodes: WrongCodes
}

export interface Decision {
  readonly verdict: Verdict
  /** As somebody typed it. */
  readonly typed: string
  readonly session: DecidingSession
  readonly nowMs: number
}

/**
 * Approves or refuses the sign-in of a user code. A code of another Domain, one that is decided and one that never was
 * look alike.
 *
 * @throws Problem `invalid_user_code`, `reauthentication_required`, `device_session_not_found`, `step_up_required` where the
 *   device asked for another sign-in than the approver's; RateLimited after five wrong codes
 */
export async function decide({ db, wrongCodes }: DecideDeps, decision: Decision): Promise<store.DeviceSignIn> {
  const { verdict, session, nowMs } = decision
  const userCode = normalizeUserCode(decision.typed)
  if (userCode === undefined) throw problem('invalid_user_code')
  if (!isSignInRecent(session.authTimeMs ?? 0, nowMs)) throw problem('reauthentication_required')
  const wasRight = wrongCodes.count(session.id, nowMs)
  const signIn = await store.lockByUserCode(db, { userCode, domainId: session.domainId })
  if (signIn === undefined || !isUndecided(signIn, nowMs)) throw problem('device_session_not_found')
  wasRight()
  const lacking = verdict === 'approved' ? lackingFor(signIn, session, nowMs) : undefined
  if (lacking !== undefined) throw stepUpRequired(lacking)
  await store.noteDecision(db, signIn.id, { state: verdict, by: session, at: new Date(nowMs) })
  return signIn
}
