import { expect, it } from 'vitest'
import { createCachedResolver, type FoundCredential } from '../../../../../src/server/http/auth/cached-resolver.ts'
import type { Refusal } from '../../../../../src/server/ports/credential-resolver.ts'

const EXPIRED: Refusal = { refused: true, log: 'expired' }
const IDLE: Refusal = { refused: true, log: 'idle' }
const NO_FORM: Refusal = { refused: true, log: 'no form' }

const caller = {
  subject: 'user:1',
  kind: 'user',
  id: '1',
  domainId: 'd',
  displayName: 'Ana',
  credential: { kind: 'session', id: 's', scopes: ['*'], expiresAtMs: 10_000 },
} as const

/** A kind of credential that expires at 10 s and idles after 5 s. `good` and `bad` have its form, `bad` leads nowhere. */
function start({ usedMs = 0 } = {}) {
  const state = { nowMs: 0, isFresh: true, reads: 0, usedMs }
  const resolver = createCachedResolver(
    {
      keyring: { cacheKey: (text) => text },
      changeFeed: {
        isFresh: () => state.isFresh,
        untilFresh: async () => state.isFresh,
        revision: () => 0n,
        waitFor: async () => undefined,
        subscribe: () => undefined,
      },
      clock: { now: () => state.nowMs },
      lastUses: { note: () => undefined, flush: async () => undefined },
    },
    {
      kind: 'session',
      recognizes: () => true,
      refuse: (text) => (text.length > 4 ? NO_FORM : undefined),
      lead: (text) =>
        text === 'bad'
          ? NO_FORM
          : {
              credentialId: 's',
              read: async (): Promise<FoundCredential> => {
                state.reads += 1
                return { caller, usedMs: state.usedMs }
              },
            },
      endOf: (credential, nowMs) => {
        if (nowMs >= 10_000) return EXPIRED
        return nowMs - credential.usedMs >= 5000 ? IDLE : undefined
      },
      revisable: IDLE,
    },
  )
  return { state, resolver }
}

it('reads a credential once and resolves it from memory after that, without a promise', async () => {
  const { state, resolver } = start()
  expect(await resolver.resolve('good')).toEqual(caller)
  expect(resolver.resolve('good')).toEqual(caller)
  expect(state.reads).toBe(1)
})

it('refuses what has no form or leads nowhere without reading', async () => {
  const { state, resolver } = start()
  expect(resolver.resolve('too long')).toBe(NO_FORM)
  expect(await resolver.resolve('bad')).toBe(NO_FORM)
  expect(state.reads).toBe(0)
})

it('reads one that ended once a second, however often it is presented', async () => {
  const { state, resolver } = start()
  state.nowMs = 10_000
  expect(await resolver.resolve('good')).toBe(EXPIRED)
  expect(resolver.resolve('good')).toBe(EXPIRED)
  state.nowMs = 10_999
  expect(resolver.resolve('good')).toBe(EXPIRED)
  expect(state.reads).toBe(1)
  state.nowMs = 11_000
  expect(await resolver.resolve('good')).toBe(EXPIRED)
  expect(state.reads).toBe(2)
})

it('ends one in memory by the clock, without reading', async () => {
  const { state, resolver } = start({ usedMs: 6000 })
  state.nowMs = 6000
  await resolver.resolve('good')
  state.nowMs = 10_000
  expect(resolver.resolve('good')).toBe(EXPIRED)
  expect(state.reads).toBe(1)
})

it('reads one in memory again before it counts as idle: another replica may have seen it', async () => {
  const { state, resolver } = start()
  await resolver.resolve('good')
  state.nowMs = 6000
  state.usedMs = 4000
  expect(await resolver.resolve('good')).toEqual(caller)
  expect(state.reads).toBe(2)
})

it('lets a use put off the idle end', async () => {
  const { state, resolver } = start()
  await resolver.resolve('good')
  state.nowMs = 4000
  await resolver.resolve('good')
  state.nowMs = 8000
  expect(resolver.resolve('good')).toEqual(caller)
  expect(state.reads).toBe(1)
})

it('stands in for itself while the feed is not fresh, for so long and not past its end', async () => {
  const { state, resolver } = start()
  await resolver.resolve('good')
  expect(resolver.resolveStale?.('good', 2000)).toBeUndefined()
  state.isFresh = false
  state.nowMs = 2000
  expect(resolver.resolveStale?.('good', 2000)).toEqual({ ...caller, staleSinceMs: 0 })
  state.nowMs = 2001
  expect(resolver.resolveStale?.('good', 2000)).toBeUndefined()
})
