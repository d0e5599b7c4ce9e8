import { describe, expect, it } from 'vitest'
import { withStaleChecks } from '../../../../../src/server/adapters/stale-checks/stale-checks.ts'
import type { Authorizer, CheckQuery, Decision } from '../../../../../src/server/ports/authorizer.ts'
import { problem } from '../../../../../src/shared/problems.ts'

const NOW_MS = Date.parse('2026-03-01T08:00:00.000Z')
const GRANT: Decision = { allowed: true, path: ['operate'], isUnconditional: true }
const DENIAL: Decision = { allowed: false, reason: 'insufficient_relation', isUnconditional: true }

const QUESTION: CheckQuery = {
  subject: 'user:ann',
  relation: 'read',
  resource: 'domain:home',
  facts: { nowMs: NOW_MS },
  wantPath: true,
  mayBeStale: true,
}

const at = (ms: number, more: Partial<CheckQuery> = {}): CheckQuery => ({
  ...QUESTION,
  facts: { nowMs: NOW_MS + ms },
  ...more,
})

const unavailable = expect.objectContaining({ code: 'authz_unavailable' })

/** An engine that answers what it is told to, at once or later, until it is taken away. */
function engine({ late = false, ttlMs = 30_000, entriesMax = 10_000 } = {}) {
  const state = { decision: GRANT, isAway: false, asked: 0 }
  function given<T>(value: T): T | Promise<T> {
    state.asked++
    if (state.isAway) {
      if (late) return Promise.reject(problem('authz_unavailable'))
      throw problem('authz_unavailable')
    }
    return late ? Promise.resolve(value) : value
  }
  const authorizer: Authorizer = {
    kind: 'embedded',
    check: () => given(state.decision),
    domainOf: (reference) => given(reference === 'domain:gone' ? undefined : 'home'),
    pathOf: () => [],
    hasRelation: () => true,
  }
  const asked = withStaleChecks(authorizer, { ttlMs, entriesMax })
  return {
    state,
    authorizer,
    asked,
    check: async (query: CheckQuery) => asked.check(query),
    domainOf: async (reference: string) => asked.domainOf(reference),
  }
}

describe.each([{ late: false }, { late: true }])('checks over an engine that answers late: $late', ({ late }) => {
  it('gives the last answer again during an outage, and says since when', async () => {
    const { state, check } = engine({ late })
    await check(QUESTION)
    state.isAway = true
    expect(await check(at(5_000))).toEqual({ ...GRANT, staleSinceMs: NOW_MS + 5_000 })
    expect(await check(at(30_000))).toEqual({ ...GRANT, staleSinceMs: NOW_MS + 5_000 })
  })

  it('gives denials again too', async () => {
    const { state, check } = engine({ late })
    state.decision = DENIAL
    await check(QUESTION)
    state.isAway = true
    expect(await check(at(1))).toEqual({ ...DENIAL, staleSinceMs: NOW_MS + 1 })
  })

  it('gives nothing older than the TTL', async () => {
    const { state, check } = engine({ late })
    await check(QUESTION)
    state.isAway = true
    await expect(check(at(30_001))).rejects.toEqual(unavailable)
  })

  it('remembers the newest answer alone, and for as long as from it', async () => {
    const { state, check } = engine({ late })
    await check(QUESTION)
    state.decision = DENIAL
    await check(at(20_000))
    state.isAway = true
    expect(await check(at(50_000))).toMatchObject({ allowed: false })
  })

  it.each([
    ['another subject', { subject: 'user:bob' }],
    ['another relation', { relation: 'manage' }],
    ['another resource', { resource: 'domain:other' }],
    ['what is to change something', { mayBeStale: false }],
    ['facts that are named', { allowedFacts: new Set(['now']) }],
    ['parts that run into each other', { subject: 'user:ann read', relation: 'domain:home', resource: '' }],
  ])('gives nothing for %s', async (_what, more) => {
    const { state, check } = engine({ late })
    await check(QUESTION)
    state.isAway = true
    await expect(check(at(1, more))).rejects.toEqual(unavailable)
  })

  it('gives nothing that a caveat had a part in, and forgets what was known before', async () => {
    const { state, check } = engine({ late })
    await check(QUESTION)
    state.decision = { allowed: true, path: ['operate'] }
    await check(at(1))
    state.isAway = true
    await expect(check(at(2))).rejects.toEqual(unavailable)
  })

  it('counts an outage anew once the engine was back', async () => {
    const { state, check } = engine({ late })
    await check(QUESTION)
    state.isAway = true
    await check(at(1))
    state.isAway = false
    expect(await check(at(2))).toEqual(GRANT)
    state.isAway = true
    expect(await check(at(3))).toMatchObject({ staleSinceMs: NOW_MS + 3 })
  })

  it('keeps as many answers as it may, and drops the oldest', async () => {
    const { state, check } = engine({ late, entriesMax: 2 })
    await check(at(0, { subject: 'user:1' }))
    await check(at(1, { subject: 'user:2' }))
    await check(at(2, { subject: 'user:1' }))
    await check(at(3, { subject: 'user:3' }))
    state.isAway = true
    await expect(check(at(4, { subject: 'user:2' }))).rejects.toEqual(unavailable)
    expect(await check(at(4, { subject: 'user:1' }))).toMatchObject({ allowed: true })
    expect(await check(at(4, { subject: 'user:3' }))).toMatchObject({ allowed: true })
  })

  it('goes on telling where an object lies, of those that it was asked about', async () => {
    const { state, domainOf } = engine({ late })
    expect([await domainOf('domain:home'), await domainOf('domain:gone')]).toEqual(['home', undefined])
    state.isAway = true
    expect(await domainOf('domain:home')).toBe('home')
    await expect(domainOf('domain:gone')).rejects.toEqual(unavailable)
    await expect(domainOf('domain:never')).rejects.toEqual(unavailable)
  })
})

it('passes on every other failure', async () => {
  const { authorizer } = engine()
  const failing: Authorizer = {
    ...authorizer,
    check: () => {
      throw problem('invalid_triple')
    },
  }
  const asked = withStaleChecks(failing, { ttlMs: 30_000, entriesMax: 10 })
  expect(() => asked.check(QUESTION)).toThrow(expect.objectContaining({ code: 'invalid_triple' }))
})

it.each([
  { ttlMs: 0, entriesMax: 10_000 },
  { ttlMs: 30_000, entriesMax: 0 },
])('is not there at all with $ttlMs ms and $entriesMax entries', (options) => {
  const { authorizer } = engine()
  expect(withStaleChecks(authorizer, options)).toBe(authorizer)
})
