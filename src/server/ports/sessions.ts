import type { Db } from './datastore.ts'
import type { Change } from './unit-of-work.ts'

/** The cookies of a browser session (S0 Authentication artefacts; decisions: Session, CSRF). */
export const SESSION_COOKIE = 'service_session'
export const CSRF_COOKIE = 'service_csrf'

/** Idle for so long, a session has ended: 12 hours. */
export const SESSION_IDLE_MS = 12 * 3_600_000
/** Its longest life: 7 days. */
export const SESSION_ABSOLUTE_MS = 7 * 86_400_000

/** What a sign-in found out. */
export interface SessionDraft {
  readonly principalId: string
  readonly domainId: string
  readonly bindingId: string
  readonly acr: string | undefined
  readonly amr: readonly string[]
  readonly authTimeMs: number
  /** Whether the provider did not state that time; false by default. */
  readonly isAuthTimeAssumed?: boolean
  readonly sourceAddress: string
  readonly userAgent: string
  /** Cookie that the browser came with: that session ends, so that a sign-in leaves one session in a browser, and a new one. */
  readonly replaces?: string | undefined
  /** As the provider issued it, to be handed back when the person signs out; kept sealed. */
  readonly idToken?: string | undefined
  readonly nowMs: number
}

/** Which session is signed out of, and whose it is. */
export interface SessionOfPerson {
  readonly id: string
  readonly principalId: string
  readonly domainId: string
}

/** A session that somebody signs out of, with what its provider needs for the sign-out. */
export interface SignedOutSession extends SessionOfPerson {
  readonly bindingId: string | null
  /** Opens the token that the provider issued; undefined where none is kept. Rejects for a token that cannot be opened. */
  readonly idToken: () => Promise<string | undefined>
}

export interface SigningOut {
  /** Whether the person's sessions in all browsers end, or this one alone. */
  readonly everywhere: boolean
  readonly at: Date
}

/** Ends what the bundled provider remembers of a person's sign-ins, in every browser. */
export type ForgetSignIns = (change: Change, principalId: string, at: Date) => Promise<void>

/** A new session: the value of its cookie leaves the server once and is stored nowhere. */
export interface OpenedSession {
  readonly id: string
  readonly cookie: string
  readonly expiresAtMs: number
}

/** A session that is live, and whose it is. */
export interface LiveSession {
  readonly id: string
  readonly principalId: string
  readonly domainId: string
  readonly bindingId: string | null
  readonly displayName: string
  readonly acr: string | undefined
  readonly amr: readonly string[]
  readonly authTimeMs: number
}

export interface Sessions {
  open(change: Change, draft: SessionDraft): Promise<OpenedSession>
  /** Ends the principal's sessions everywhere; answers how many were live. */
  endAllOf(change: Change, principalId: string): Promise<number>
  /** The same but for one session, that of the browser which asks for it. */
  endOthersOf(change: Change, principalId: string, keptId: string): Promise<number>
  /** Ends the sessions that began with a binding. */
  endAllOfBinding(change: Change, bindingId: string): Promise<number>
  /** The session of a cookie with what its provider needs for the sign-out; undefined if the cookie has none. Nothing is ended. */
  toSignOut(db: Db, cookie: string): Promise<SignedOutSession | undefined>
  /**
   * Signs a person out: ends the session, or with `everywhere` all of theirs, and what the bundled provider remembers of
   * their sign-ins. Answers how many sessions were live. Announces a sign-out everywhere.
   */
  signOut(change: Change, session: SessionOfPerson, signingOut: SigningOut): Promise<number>
  /** The session of a cookie, for pages outside the contract; undefined when it is none, has ended or idled. */
  find(db: Db, cookie: string, nowMs: number): Promise<LiveSession | undefined>
  /** The anti-forgery token that belongs to the session: an HMAC of its id. */
  csrfToken(sessionId: string): string
}
