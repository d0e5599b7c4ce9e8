import { describe, expect, it } from 'vitest'
import { lackedBy, type WantedSignIn } from '../../../../../src/server/http/auth/wanted-sign-in.ts'
import type { Caller } from '../../../../../src/server/ports/credential-resolver.ts'

const NOW_MS = Date.parse('2026-03-02T09:00:00Z')
const secondsAgo = (seconds: number): number => NOW_MS - seconds * 1000

const CALLER: Caller = {
  subject: 'user:01935b5e-8f3a-7c61-9d0a-000000000031',
  kind: 'user',
  id: '01935b5e-8f3a-7c61-9d0a-000000000031',
  domainId: '01935b5e-8f3a-7c61-9d0a-000000000001',
  displayName: 'Ana',
  credential: { kind: 'session', id: 's', scopes: ['*'], expiresAtMs: undefined },
}

type Members = Pick<Caller, 'acr' | 'authTimeMs' | 'isAuthTimeAssumed' | 'kind' | 'approvalId'>

const callerOf = (kind: Caller['credential']['kind'], members: Partial<Members>): Caller => ({
  ...CALLER,
  credential: { ...CALLER.credential, kind },
  ...members,
})

const STRONG: WantedSignIn = { acrValues: ['mfa', 'phr'] }
const RECENT: WantedSignIn = { acrValues: ['mfa', 'phr'], maxAgeSeconds: 60 }

describe('a policy that names acr values alone', () => {
  it.each([
    ['a session that has one of them', 'session', { acr: 'phr', authTimeMs: secondsAgo(86_400) }],
    ['a session whose provider stated no time', 'session', { acr: 'mfa', isAuthTimeAssumed: true, authTimeMs: NOW_MS }],
    ['an access token that states no time', 'oidc-jwt', { acr: 'mfa' }],
    ['a token of the device flow at 15 minutes', 'api-token', { acr: 'mfa', authTimeMs: secondsAgo(900) }],
    [
      'an approved call, whose requester satisfied it',
      'api-token',
      { acr: 'mfa', authTimeMs: secondsAgo(86_400), approvalId: 'a' },
    ],
  ] as const)('is satisfied by %s', (_, kind, members) => {
    expect(lackedBy(callerOf(kind, members), STRONG, NOW_MS)).toBeUndefined()
  })

  it.each([
    ['a session of another acr', 'session', { acr: 'pwd', authTimeMs: NOW_MS }],
    ['a session that spells it in another case', 'session', { acr: 'MFA', authTimeMs: NOW_MS }],
    ['a session without an acr', 'session', { authTimeMs: NOW_MS }],
    ['an access token of another acr', 'oidc-jwt', { acr: 'pwd', authTimeMs: NOW_MS }],
    ['an access token of a service identity', 'oidc-jwt', { acr: 'mfa', authTimeMs: NOW_MS, kind: 'service-identity' }],
  ] as const)('is not satisfied by %s', (_, kind, members) => {
    expect(lackedBy(callerOf(kind, members), STRONG, NOW_MS)).toEqual({ acrValues: ['mfa', 'phr'] })
  })

  it.each([
    ['a plain API token', {}],
    ['a token of the device flow after 15 minutes', { acr: 'mfa', authTimeMs: secondsAgo(900.001) }],
    ['a token of the device flow of another acr', { acr: 'pwd', authTimeMs: NOW_MS }],
    ['a token of the device flow whose approver’s provider stated no time', { acr: 'mfa' }],
    ['a token of a service identity', { acr: 'mfa', authTimeMs: NOW_MS, kind: 'service-identity' }],
  ] as const)('is not satisfied by %s, which needs a sign-in of the last 15 minutes', (_, members) => {
    expect(lackedBy(callerOf('api-token', members), STRONG, NOW_MS)).toEqual({
      acrValues: ['mfa', 'phr'],
      maxAgeSeconds: 900,
    })
  })
})

describe.each(['session', 'oidc-jwt', 'api-token'] as const)(
  'a policy with a max_age of 60 s, and a caller by %s',
  (kind) => {
    it.each([
      ['this moment', { authTimeMs: NOW_MS }],
      ['60 s ago', { authTimeMs: secondsAgo(60) }],
      ['30 s ahead, by the clock of the provider', { authTimeMs: secondsAgo(-30) }],
    ])('takes a sign-in of %s', (_, members) => {
      expect(lackedBy(callerOf(kind, { acr: 'mfa', ...members }), RECENT, NOW_MS)).toBeUndefined()
    })

    it.each([
      ['60.001 s ago', { authTimeMs: secondsAgo(60.001) }],
      ['an unknown time', {}],
      ['a time that the provider did not state', { authTimeMs: NOW_MS, isAuthTimeAssumed: true }],
      ['31 s ahead', { authTimeMs: secondsAgo(-31) }],
      ['this moment, with another acr', { authTimeMs: NOW_MS, acr: 'pwd' }],
    ])('refuses a sign-in of %s', (_, members) => {
      expect(lackedBy(callerOf(kind, { acr: 'mfa', ...members }), RECENT, NOW_MS)).toEqual({
        acrValues: ['mfa', 'phr'],
        maxAgeSeconds: 60,
      })
    })
  },
)

it('a policy with an age of an hour keeps tokens of the device flow for that hour', () => {
  const policy = { acrValues: ['mfa'], maxAgeSeconds: 3600 }
  const at = (seconds: number) => callerOf('api-token', { acr: 'mfa', authTimeMs: secondsAgo(seconds) })
  expect(lackedBy(at(3600), policy, NOW_MS)).toBeUndefined()
  expect(lackedBy(at(3601), policy, NOW_MS)).toEqual({ acrValues: ['mfa'], maxAgeSeconds: 3600 })
})
