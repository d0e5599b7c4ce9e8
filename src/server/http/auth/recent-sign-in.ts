/** Maximum age of a sign-in for operations that a stolen session must not reach: 15 minutes. */
export const SIGN_IN_AGE_MAX_MS = 15 * 60_000

/** Whether a session is that recent. */
export function isSignInRecent(authTimeMs: number, nowMs: number): boolean {
  return nowMs - authTimeMs < SIGN_IN_AGE_MAX_MS
}
