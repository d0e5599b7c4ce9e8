import { describe, expect, it } from 'vitest'
import type { TokenRecord } from '../../../../../src/server/slices/tokens/store.ts'
import { endOfGrace, isLive, lifetimeFrom, lifetimeWithin } from '../../../../../src/server/slices/tokens/token.ts'
import { Problem } from '../../../../../src/shared/problems.ts'

const NOW_MS = Date.parse('2026-03-01T08:00:00.000Z')
const DAY_SECONDS = 86_400

const TOKEN: TokenRecord = {
  id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b',
  domain_id: '01935b5e-8f3a-7c61-9d0a-000000000001',
  owner_id: '01935b5e-8f3a-7c61-9d0a-000000000002',
  owner_kind: 'user',
  name: 'ci',
  prefix: 'psk_test_01935b5e8f3a7c619d0a3f5f3c1d2e4b',
  fingerprint: Buffer.alloc(32),
  fingerprint_key_id: 'k',
  scopes: ['*'],
  lifetime_seconds: 60,
  created_at: new Date(NOW_MS),
  expires_at: new Date(NOW_MS + 60_000),
  last_used_at: null,
  revoked_at: null,
  rotated_to: null,
  hidden: false,
  self_issued: false,
  acr: null,
  auth_time: null,
}

describe('the lifetime of a token', () => {
  it('is 90 days unless asked otherwise', () => {
    expect(lifetimeFrom(NOW_MS)).toEqual({ seconds: 90 * DAY_SECONDS, expiresAt: new Date('2026-05-30T08:00:00.000Z') })
    expect(lifetimeFrom(NOW_MS, 60)).toEqual({ seconds: 60, expiresAt: new Date('2026-03-01T08:01:00.000Z') })
  })

  it.each([
    { what: 'a session', kind: 'session', leftMs: 1000, asked: 3600 },
    { what: 'a token without an end', kind: 'api-token', leftMs: undefined, asked: 3600 },
    { what: 'a token that lives just as long', kind: 'api-token', leftMs: 3_600_000, asked: 3600 },
  ] as const)('issued with $what is as asked', ({ kind, leftMs, asked }) => {
    const expiresAtMs = leftMs === undefined ? undefined : NOW_MS + leftMs
    expect(lifetimeWithin({ kind, id: 'x', scopes: ['*'], expiresAtMs }, NOW_MS, asked).seconds).toBe(asked)
  })

  const short = { kind: 'api-token', id: 'x', scopes: ['*'], expiresAtMs: NOW_MS + 90_500 } as const

  it('is shortened to that of the token that issues when nothing was asked for', () => {
    expect(lifetimeWithin(short, NOW_MS, undefined)).toEqual({ seconds: 90, expiresAt: new Date(NOW_MS + 90_500) })
    expect(lifetimeWithin(short, NOW_MS + 90_000, undefined).seconds).toBe(1)
  })

  it('is refused beyond that of the token that issues', () => {
    expect(() => lifetimeWithin(short, NOW_MS, 91)).toThrow(Problem)
    expect(lifetimeWithin(short, NOW_MS, 90).seconds).toBe(90)
  })
})

describe('a rotated token', () => {
  it.each([
    { grace: undefined, expiresInMs: 7_200_000, endsInMs: 3_600_000 },
    { grace: 0, expiresInMs: 7_200_000, endsInMs: 0 },
    { grace: 604_800, expiresInMs: 7_200_000, endsInMs: 7_200_000 },
  ])('with grace $grace ends after $endsInMs ms', ({ grace, expiresInMs, endsInMs }) => {
    const token = { ...TOKEN, expires_at: new Date(NOW_MS + expiresInMs) }
    expect(endOfGrace(token, NOW_MS, grace)).toEqual(new Date(NOW_MS + endsInMs))
  })
})

describe('a live token', () => {
  it.each([
    { what: 'a fresh one', token: TOKEN, atMs: NOW_MS, live: true },
    { what: 'one in its last millisecond', token: TOKEN, atMs: NOW_MS + 59_999, live: true },
    { what: 'an expired one', token: TOKEN, atMs: NOW_MS + 60_000, live: false },
    { what: 'a revoked one', token: { ...TOKEN, revoked_at: new Date(NOW_MS) }, atMs: NOW_MS, live: false },
    { what: 'a rotated one', token: { ...TOKEN, rotated_to: TOKEN.id }, atMs: NOW_MS, live: false },
  ])('$what: $live', ({ token, atMs, live }) => {
    expect(isLive(token, atMs)).toBe(live)
  })
})
