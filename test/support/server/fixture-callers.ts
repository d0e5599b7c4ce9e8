import { problem } from '../../../src/shared/problems.ts'
import type { Caller, CredentialResolver, Refusal } from '../../../src/server/ports/credential-resolver.ts'

export const HOME = '01935b5e-8f3a-7c61-9d0a-000000000001'
export const ELSEWHERE = '01935b5e-8f3a-7c61-9d0a-000000000002'
export const PROJECT = '01935b5e-8f3a-7c61-9d0a-000000000011'
export const OTHER_PROJECT = '01935b5e-8f3a-7c61-9d0a-000000000012'
export const NODE = '01935b5e-8f3a-7c61-9d0a-000000000021'
export const OTHER_NODE = '01935b5e-8f3a-7c61-9d0a-000000000022'
const ADMIN = '01935b5e-8f3a-7c61-9d0a-000000000031'
const VIEWER = '01935b5e-8f3a-7c61-9d0a-000000000032'
const NOBODY = '01935b5e-8f3a-7c61-9d0a-000000000033'
const DEPUTY = '01935b5e-8f3a-7c61-9d0a-000000000034'
const KEEPER = '01935b5e-8f3a-7c61-9d0a-000000000035'

/** Subjects behind the tokens; what they may do the real authorizer decides. */
export const SUBJECTS = {
  admin: `user:${ADMIN}`,
  viewer: `user:${VIEWER}`,
  nobody: `user:${NOBODY}`,
  /** May do what the administrator may. */
  deputy: `user:${DEPUTY}`,
  /** Administrates the other Domain, and belongs to it. */
  keeper: `user:${KEEPER}`,
} as const

function caller(subject: string, kind: 'api-token' | 'session' | 'nsk', scopes: readonly string[] = ['*']): Caller {
  const [type = '', id = ''] = subject.split(':')
  return {
    subject,
    kind: type === 'node' ? 'node' : 'user',
    id,
    domainId: HOME,
    displayName: subject,
    credential: {
      kind,
      id: `${kind}-of-${id}`,
      scopes,
      expiresAtMs: undefined,
      ...(kind === 'nsk' && { kid: 'kid00001' }),
    },
  }
}

const TOKENS: Readonly<Record<string, Caller | Refusal>> = {
  psk_admin: caller(SUBJECTS.admin, 'api-token'),
  psk_viewer: caller(SUBJECTS.viewer, 'api-token'),
  psk_nobody: caller(SUBJECTS.nobody, 'api-token'),
  psk_deputy: caller(SUBJECTS.deputy, 'api-token'),
  psk_keeper: { ...caller(SUBJECTS.keeper, 'api-token'), domainId: ELSEWHERE },
  psk_narrow: caller(SUBJECTS.admin, 'api-token', ['meta:read', 'fixture']),
  psk_reader: caller(SUBJECTS.admin, 'api-token', ['fixture:read']),
  psk_writer: caller(SUBJECTS.admin, 'api-token', ['fixture:write']),
  ses_admin: caller(SUBJECTS.admin, 'session'),
  nsk_own: caller(`node:${NODE}`, 'nsk'),
  nsk_other: caller(`node:${OTHER_NODE}`, 'nsk'),
  nsk_revoked: { refused: true, code: 'nsk_revoked', log: 'the key was revoked' },
}

/** What a browser of the administrator sends, and pages of ours echo. */
export const ADMIN_SESSION = `service_session=ses_admin; service_csrf=csrf-of-session-of-${ADMIN}`

/** The anti-forgery token of a session. */
export const csrfOf = (sessionId: string): string => `csrf-of-${sessionId}`

const KINDS = { psk: 'api-token', ses: 'session', nsk: 'nsk' } as const

/** Resolvers of fixed credentials. Those that end in `_slow` are looked up, those that end in `_down` not at all. */
export const fixtureResolvers: readonly CredentialResolver[] = Object.entries(KINDS).map(([prefix, kind]) => ({
  kind,
  ...(kind === 'session' && { cookie: 'service_session' }),
  recognizes: (text) => text.startsWith(`${prefix}_`),
  recall: (text) => (text.endsWith('_slow') || text.endsWith('_down') ? undefined : known(text)),
  async resolve(text) {
    if (text.endsWith('_down')) throw problem('datastore_unavailable', { retry_after_seconds: 2 })
    return known(text.replace(/_slow$/, ''))
  },
}))

function known(text: string): Caller | Refusal {
  return TOKENS[text] ?? { refused: true, log: 'no such credential' }
}
