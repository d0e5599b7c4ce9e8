import { describe, expect, it } from 'vitest'
import type { ApplyChange, ChangeFeed, Reload } from '../../../../../src/server/ports/change-feed.ts'
import { createCredentialCache, type CachedCredential } from '../../../../../src/server/http/auth/credential-cache.ts'

const REFUSED = { refused: true, log: 'no' } as const
const never = (): never => expect.fail('must not be read')

function setUp(entriesMax = 10) {
  const state = { isFresh: true, nowMs: 0 }
  const followers: { apply: ApplyChange; reload: Reload | undefined }[] = []
  const changeFeed: ChangeFeed = {
    isFresh: () => state.isFresh,
    untilFresh: async () => state.isFresh,
    revision: () => 1n,
    waitFor: () => Promise.resolve(),
    subscribe: (apply, reload) => void followers.push({ apply, reload }),
  }
  const cache = createCredentialCache<CachedCredential>({
    kind: 'api-token',
    changeFeed,
    clock: { now: () => state.nowMs },
    entriesMax,
  })
  const changed = (id: string, kind: 'api-token' | 'nsk' = 'api-token') =>
    followers.forEach(({ apply }) => apply({ revision: 1n, kind: 'credential_changed', payload: { kind, id } }))
  /** A read that is answered by hand. */
  const slowly = () => {
    let settle: (entry: CachedCredential) => void = never
    const promise = new Promise<CachedCredential>((resolve) => {
      settle = resolve
    })
    return { read: () => promise, answer: (credentialId: string) => settle({ credentialId }) }
  }
  const keep = (credentialId: string) =>
    cache.load(`key-${credentialId}`, credentialId, () => Promise.resolve({ credentialId }))
  return { cache, state, followers, changed, slowly, keep }
}

describe('the cache of credentials', () => {
  it('knows what it has read', async () => {
    const { cache, keep } = setUp()
    const entry = await keep('a')
    expect(cache.get('key-a')).toBe(entry)
    expect(cache.get('key-b')).toBeUndefined()
  })

  it('uses nothing while the feed is stale', async () => {
    const { cache, state, keep } = setUp()
    await keep('a')
    state.isFresh = false
    expect(cache.get('key-a')).toBeUndefined()
    state.isFresh = true
    expect(cache.get('key-a')).toEqual({ credentialId: 'a' })
  })

  it('says of what it may not use when it was known to be good', async () => {
    const { cache, state, changed, keep } = setUp()
    await keep('a')
    expect(cache.stale('key-a')).toEqual({ entry: { credentialId: 'a' }, freshMs: 0 })
    state.nowMs = 5
    cache.get('key-a')
    state.isFresh = false
    state.nowMs = 9
    cache.get('key-a')
    expect(cache.stale('key-a')).toEqual({ entry: { credentialId: 'a' }, freshMs: 5 })
    changed('a')
    expect([cache.stale('key-a'), cache.stale('key-b')]).toEqual([undefined, undefined])
  })

  it('drops the credential that changed, and no other', async () => {
    const { cache, changed, keep } = setUp()
    await Promise.all([keep('a'), keep('b')])
    changed('b', 'nsk')
    changed('a')
    expect(cache.get('key-a')).toBeUndefined()
    expect(cache.get('key-b')).toBeDefined()
  })

  it('drops everything when the feed starts over', async () => {
    const { cache, followers, keep } = setUp()
    await keep('a')
    for (const { reload } of followers) await reload?.(expect.anything(), 2n)
    expect(cache.get('key-a')).toBeUndefined()
  })

  it('reads once for all who ask at the same time', async () => {
    const { cache, slowly } = setUp()
    const slow = slowly()
    const first = cache.load('key-a', 'a', slow.read)
    const second = cache.load('key-a', 'a', never)
    slow.answer('a')
    expect(await second).toBe(await first)
  })

  it('neither keeps nor shares what was read before a change', async () => {
    const { cache, changed, slowly } = setUp()
    const [before, after] = [slowly(), slowly()]
    const early = cache.load('key-a', 'a', before.read)
    changed('a')
    const late = cache.load('key-a', 'a', after.read)
    before.answer('a')
    await early
    expect(cache.get('key-a')).toBeUndefined()
    after.answer('a')
    const entry = await late
    expect(entry).not.toBe(await early)
    expect(cache.get('key-a')).toBe(entry)
  })

  it('tries again after a failed read', async () => {
    const { cache, keep } = setUp()
    await expect(cache.load('key-a', 'a', () => Promise.reject(new Error('down')))).rejects.toThrow('down')
    expect(await keep('a')).toEqual({ credentialId: 'a' })
  })

  it('keeps a refusal for a second, also while the feed is stale', async () => {
    const { cache, state } = setUp()
    await cache.load('key-x', 'x', () => Promise.resolve(REFUSED))
    state.isFresh = false
    state.nowMs = 999
    expect(cache.get('key-x')).toBe(REFUSED)
    state.nowMs = 1000
    expect(cache.get('key-x')).toBeUndefined()
  })

  it('keeps no more than its bound, and rather those in use', async () => {
    const { cache, keep } = setUp(3)
    for (const id of ['a', 'b', 'c']) await keep(id)
    cache.get('key-a')
    await keep('d')
    await keep('e')
    const kept = ['a', 'b', 'c', 'd', 'e'].filter((id) => cache.get(`key-${id}`) !== undefined)
    expect(kept).toEqual(['a', 'd', 'e'])
  })

  it('forgets refusals beyond a thousand', async () => {
    const { cache } = setUp()
    for (let index = 0; index <= 1000; index++) {
      await cache.load(`key-${index}`, String(index), () => Promise.resolve(REFUSED))
    }
    expect(cache.get('key-0')).toBeUndefined()
    expect(cache.get('key-1')).toBe(REFUSED)
  })
})
