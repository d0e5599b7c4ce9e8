import { PROVIDER_PATH, PROVIDER_SESSION_COOKIE } from '../../ports/local-sign-in.ts'
import { CSRF_COOKIE, SESSION_COOKIE } from '../../ports/sessions.ts'
import { API_COOKIE_PATH } from '../api-version.ts'
import type { Cookie } from '../cookies.ts'

/** What the two cookies of a session have in common (S0 Authentication artefacts). */
const COMMON = { path: API_COOKIE_PATH, sameSite: 'Strict' } as const

/** The session's own cookie, and the anti-forgery token that the server's pages read and echo. Both are session cookies of the browser. */
export function sessionCookies(session: { readonly cookie: string; readonly csrfToken: string }): readonly Cookie[] {
  return [
    { ...COMMON, name: SESSION_COOKIE, value: session.cookie, isHttpOnly: true },
    { ...COMMON, name: CSRF_COOKIE, value: session.csrfToken, isHttpOnly: false },
  ]
}

/** The cookies by which the bundled provider recognises a browser: the value and its signature. */
const PROVIDER_COOKIES: readonly Cookie[] = [PROVIDER_SESSION_COOKIE, `${PROVIDER_SESSION_COOKIE}.sig`].map((name) => ({
  name,
  value: '',
  path: PROVIDER_PATH,
  sameSite: 'Lax',
  isHttpOnly: true,
}))

/**
 * The same cookies, deleted: a browser matches them only by the attributes that they were set with. The
 * bundled provider's cookies are deleted, too; otherwise it would sign the person in again without a question.
 */
export const CLEARED_COOKIES: readonly Cookie[] = [
  ...sessionCookies({ cookie: '', csrfToken: '' }),
  ...PROVIDER_COOKIES,
].map((cookie) => ({ ...cookie, maxAgeSeconds: 0 }))
