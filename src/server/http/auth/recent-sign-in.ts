/** How old a sign-in may be before somebody has to sign in again for what a stolen session must not do: 15 minutes. */
export const SIGN_IN_AGE_MAX_MS = 15 * 60_000

/** Whether a session was begun lately enough for that. */
export function isSignInRecent(authTimeMs: number, nowMs: number): boolean {
  return nowMs - authTimeMs < SIGN_IN_AGE_MAX_MS
}
