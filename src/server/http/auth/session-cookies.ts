import { PROVIDER_PATH, PROVIDER_SESSION_COOKIE } from '../../ports/local-sign-in.ts'
import { CSRF_COOKIE, SESSION_COOKIE } from '../../ports/sessions.ts'
import type { Cookie } from '../cookies.ts'

/** What the two cookies of a session have in common (S0 Authentication artefacts). */
const COMMON = { path: '/v1/', sameSite: 'Strict' } as const

/** The session's own cookie, and the anti-forgery token that the server's pages read and echo. Both are session cookies of the browser. */
export function sessionCookies(session: { readonly cookie: string; readonly csrfToken: string }): readonly Cookie[] {
  return [
    { ...COMMON, name: SESSION_COOKIE, value: session.cookie, isHttpOnly: true },
    { ...COMMON, name: CSRF_COOKIE, value: session.csrfToken, isHttpOnly: false },
  ]
}

/** What the bundled provider remembers a browser by, with the signature beside it. */
const PROVIDER_COOKIES: readonly Cookie[] = [PROVIDER_SESSION_COOKIE, `${PROVIDER_SESSION_COOKIE}.sig`].map((name) => ({
  name,
  value: '',
  path: PROVIDER_PATH,
  sameSite: 'Lax',
  isHttpOnly: true,
}))

/**
 * The same for a browser that is to forget them: only with the attributes that they were set with does it find them. The
 * bundled provider's go with them, or it would sign the person in again without asking who it is.
 */
export const CLEARED_COOKIES: readonly Cookie[] = [
  ...sessionCookies({ cookie: '', csrfToken: '' }),
  ...PROVIDER_COOKIES,
].map((cookie) => ({ ...cookie, maxAgeSeconds: 0 }))
