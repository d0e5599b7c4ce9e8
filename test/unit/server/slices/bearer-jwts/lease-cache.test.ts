import { beforeEach, describe, expect, it } from 'vitest'
import {
  createLeaseCache,
  type Known,
  type LeaseCache,
} from '../../../../../src/server/slices/bearer-jwts/lease-cache.ts'
import type { Caller, Refusal } from '../../../../../src/server/ports/credential-resolver.ts'

const REFUSED: Refusal = { refused: true, log: 'bearer JWT: it has expired' }
const CALLER: Caller = {
  subject: 'user:1',
  kind: 'user',
  id: '1',
  domainId: 'd',
  displayName: 'Ada',
  credential: { kind: 'oidc-jwt', id: 'j', scopes: ['*'], expiresAtMs: 9_000_000 },
}

describe('the leases of verified tokens', () => {
  const clock = { nowMs: 0, now: () => clock.nowMs }
  let cache: LeaseCache
  beforeEach(() => {
    clock.nowMs = 1_000_000
    cache = createLeaseCache(clock, 2)
  })
  const known = (): Known => ({
    jwt: { header: {}, claims: {} },
    caller: CALLER,
    expiresAtMs: 9_000_000,
    verifiedMs: clock.nowMs,
    notedMs: undefined,
    confirmedMs: clock.nowMs,
  })
  const stateOf = (key: string) => {
    const found = cache.get(key)
    return found === undefined ? 'unknown' : 'refused' in found ? 'refused' : found.state
  }

  it('last less than a second, and are due after it', () => {
    cache.keep('a', known())
    clock.nowMs += 999
    expect(stateOf('a')).toBe('leased')
    clock.nowMs += 1
    expect(stateOf('a')).toBe('due')
    cache.keep('a', known())
    expect(stateOf('a')).toBe('leased')
  })

  it('are due when the clock is set back', () => {
    cache.keep('a', known())
    clock.nowMs -= 1
    expect(stateOf('a')).toBe('due')
  })

  it('end with a refusal, which is forgotten after a second', () => {
    cache.keep('a', known())
    cache.keep('a', REFUSED)
    expect(cache.get('a')).toBe(REFUSED)
    clock.nowMs += 1000
    expect(stateOf('a')).toBe('unknown')
  })

  it('are kept for as many tokens as fit, those used lately before others', () => {
    cache.keep('a', known())
    cache.keep('b', known())
    cache.get('a')
    cache.keep('c', known())
    expect(['a', 'b', 'c'].map(stateOf)).toEqual(['leased', 'unknown', 'leased'])
  })

  it('remember a thousand refusals, the newest ones', () => {
    for (let at = 0; at <= 1000; at += 1) cache.keep(`bad-${at}`, REFUSED)
    expect([stateOf('bad-0'), stateOf('bad-1'), stateOf('bad-1000')]).toEqual(['unknown', 'refused', 'refused'])
  })

  it('can be dropped', () => {
    cache.keep('a', known())
    cache.drop('a')
    expect(stateOf('a')).toBe('unknown')
  })
})
