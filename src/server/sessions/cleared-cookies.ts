import type { Cookie } from '../http/cookies.ts'
import { CSRF_COOKIE, SESSION_COOKIE } from '../ports/sessions.ts'

const CLEARED = { value: '', path: '/v1/', sameSite: 'Strict', maxAgeSeconds: 0 } as const

/** The cookies of a session, for a browser that is to forget them. */
export const CLEARED_COOKIES: readonly Cookie[] = [
  { name: SESSION_COOKIE, isHttpOnly: true, ...CLEARED },
  { name: CSRF_COOKIE, isHttpOnly: false, ...CLEARED },
]
