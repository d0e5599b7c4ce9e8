import type { Cookie } from '../http/cookies.ts'
import { CSRF_COOKIE, SESSION_COOKIE } from '../ports/sessions.ts'
import { SIGN_IN_TTL_MS } from './attempt.ts'

/** Binds a sign-in to the browser that began it. */
export const SIGN_IN_COOKIE = 'service_signin'

/** Lax: the browser comes back to the callback from the identity provider's site (decisions: Session). */
const signInCookie = { name: SIGN_IN_COOKIE, path: '/v1/auth/callback', sameSite: 'Lax', isHttpOnly: true } as const

export function bindingCookie(value: string): Cookie {
  return { ...signInCookie, value, maxAgeSeconds: SIGN_IN_TTL_MS / 1000 }
}

export function clearedBindingCookie(): Cookie {
  return { ...signInCookie, value: '', maxAgeSeconds: 0 }
}

/** The session's own cookie, and the anti-forgery token that pages of ours read and echo. They live as long as the browser. */
export function sessionCookies(session: { readonly cookie: string; readonly csrfToken: string }): readonly Cookie[] {
  const common = { path: '/v1/', sameSite: 'Strict' } as const
  return [
    { ...common, name: SESSION_COOKIE, value: session.cookie, isHttpOnly: true },
    { ...common, name: CSRF_COOKIE, value: session.csrfToken, isHttpOnly: false },
  ]
}
