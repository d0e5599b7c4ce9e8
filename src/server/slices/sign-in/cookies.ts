import type { Cookie } from '../../http/cookies.ts'
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
