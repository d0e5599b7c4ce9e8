import { CSRF_COOKIE, SESSION_ABSOLUTE_MS, SESSION_COOKIE } from '../ports/sessions.ts'
import type { Cookie } from './cookies.ts'

/** Where browsers send them back to (S0 Authentication artefacts). */
const PATH = '/v1/'

/** The cookies of a session that begins: its own, which no script reads, and the anti-forgery token, which pages of ours read. */
export function sessionCookies(session: string, csrfToken: string): readonly Cookie[] {
  return both({ session, csrfToken, maxAgeSeconds: SESSION_ABSOLUTE_MS / 1000 })
}

/** The same, for a browser that is to forget them. */
export function clearedSessionCookies(): readonly Cookie[] {
  return both({ session: '', csrfToken: '', maxAgeSeconds: 0 })
}

interface Values {
  readonly session: string
  readonly csrfToken: string
  readonly maxAgeSeconds: number
}

function both({ session, csrfToken, maxAgeSeconds }: Values): readonly Cookie[] {
  const place = { path: PATH, sameSite: 'Strict', maxAgeSeconds } as const
  return [
    { name: SESSION_COOKIE, value: session, isHttpOnly: true, ...place },
    { name: CSRF_COOKIE, value: csrfToken, isHttpOnly: false, ...place },
  ]
}
