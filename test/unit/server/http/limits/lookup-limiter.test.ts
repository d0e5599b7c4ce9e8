import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createLookUpLimiter,
  type LookUpLane,
  type LookUpLimiter,
} from '../../../../../src/server/http/limits/lookup-limiter.ts'
import { createLimit, RateLimited } from '../../../../../src/server/http/limits/rate-limits.ts'
import type { Caller } from '../../../../../src/server/ports/credential-resolver.ts'
import { problem, type Problem, type PlainProblemCode } from '../../../../../src/shared/problems.ts'

const CALLER: Caller = {
  subject: 'user:ann',
  kind: 'user',
  id: 'ann',
  domainId: 'home',
  displayName: 'Ann',
  credential: { kind: 'api-token', id: 'token', scopes: ['*'], expiresAtMs: undefined },
}

const clock = { nowMs: 0, now: () => clock.nowMs }
let limiter: LookUpLimiter
/** Look-ups under way. */
let under: { readonly address: string; answer: (code?: PlainProblemCode) => void; found: (caller: Caller) => void }[]
let refusals: string[]
beforeEach(() => {
  clock.nowMs = 0
  under = []
  refusals = []
  limiter = createLookUpLimiter({
    failures: createLimit('failedCredentials', { count: 30, seconds: 60 }),
    clock,
    meter: { refused: (reason) => void refusals.push(reason) },
  })
})
afterEach(() => vi.useRealTimers())

const open = { destroyed: false }

/** Presents a credential; how it ends is said by `under`. */
function present(
  address: string,
  socket: { readonly destroyed: boolean } = open,
  lane: LookUpLane = 'others',
): Promise<string> {
  const looked = limiter.run({ sourceAddress: address, socket }, lane, () => {
    return new Promise((resolve, reject) => {
      const end = under.length
      under.push({
        address,
        answer(code) {
          under = under.filter((each) => each !== entry)
          if (code === undefined) resolve(CALLER)
          else reject(problem(code))
        },
        found: resolve,
      })
      const entry = under[end]
    })
  })
  return looked.then(
    () => 'ok',
    (error: unknown) => (error instanceof RateLimited ? '429' : (error as Problem).code),
  )
}

const many = (count: number, address: string): Promise<string>[] =>
  Array.from({ length: count }, () => present(address))

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Ends whatever is under way, and what then begins, the same way. */
async function answerAll(code?: PlainProblemCode): Promise<void> {
  for (await settle(); under.length > 0; await settle()) for (const { answer } of under) answer(code)
}

describe('look-ups of credentials of one address', () => {
  it('that resolve are all let through, however many come at once', async () => {
    const asked = many(1_000, '192.0.2.1')
    await answerAll()
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['ok']))
    expect(refusals).toEqual([])
  })

  it('do not hold up the look-ups of node keys from the same address', async () => {
    const asked = many(100, '192.0.2.1')
    await settle()
    const before = under.length
    const ofNode = present('192.0.2.1', open, 'node-keys')
    await settle()
    expect(under).toHaveLength(before + 1)
    under.at(-1)?.answer()
    expect(await ofNode).toBe('ok')
    await answerAll()
    await Promise.all(asked)
  })

  it('are as many at once as may fail, and wait for each other', async () => {
    const asked = many(100, '192.0.2.1')
    await settle()
    expect(under).toHaveLength(30)
    under[0]?.answer()
    await settle()
    expect(under).toHaveLength(30)
    await answerAll()
    await Promise.all(asked)
  })

  it('are 32 at once where nothing limits failures', async () => {
    const failures = createLimit('failedCredentials', { count: 0, seconds: 60 })
    limiter = createLookUpLimiter({ failures, clock, meter: { refused: () => undefined } })
    const asked = many(100, '192.0.2.1')
    await settle()
    expect(under).toHaveLength(32)
    await answerAll('unauthenticated')
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['unauthenticated']))
  })

  it('that fail are refused with 429 beyond the rate, and looked up 4 at a time', async () => {
    const failed = many(30, '192.0.2.1')
    await answerAll('unauthenticated')
    expect(new Set(await Promise.all(failed))).toEqual(new Set(['unauthenticated']))
    const more = many(20, '192.0.2.1')
    await settle()
    expect(under).toHaveLength(4)
    await answerAll('unauthenticated')
    expect(new Set(await Promise.all(more))).toEqual(new Set(['429']))
    clock.nowMs += 2_000
    const later = many(2, '192.0.2.1')
    await answerAll('unauthenticated')
    expect(await Promise.all(later)).toEqual(['unauthenticated', '429'])
  })

  it('that resolve are not refused for the failures of others there', async () => {
    const failed = many(100, '192.0.2.1')
    await answerAll('unauthenticated')
    await Promise.all(failed)
    const valid = many(50, '192.0.2.1')
    await answerAll()
    expect(new Set(await Promise.all(valid))).toEqual(new Set(['ok']))
  })

  it('do not wait for those of another address, but for those of the same /64', async () => {
    const flood = [...many(200, '2001:db8:0:1::1'), ...many(200, '2001:db8:0:1::2')]
    await settle()
    expect(under).toHaveLength(30)
    const other = present('2001:db8:0:2::1')
    await settle()
    expect(under.at(-1)?.address).toBe('2001:db8:0:2::1')
    under.at(-1)?.answer()
    expect(await other).toBe('ok')
    await answerAll('unauthenticated')
    await Promise.all(flood)
  })

  it('that cannot be made give back what was set aside', async () => {
    const asked = many(200, '192.0.2.1')
    await answerAll('internal')
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['internal']))
    const failed = many(30, '192.0.2.1')
    await answerAll('unauthenticated')
    expect(new Set(await Promise.all(failed))).toEqual(new Set(['unauthenticated']))
  })

  it('are not made for a connection that is gone', async () => {
    const asked = many(30, '192.0.2.1')
    await settle()
    const gone = present('192.0.2.1', { destroyed: true })
    under[0]?.answer()
    expect(await gone).toBe('overloaded')
    await answerAll()
    await Promise.all(asked)
  })

  it('are refused after 5 s without a turn', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const asked = many(31, '192.0.2.1')
    await settle()
    vi.advanceTimersByTime(5_000)
    expect(await asked.at(-1)).toBe('overloaded')
    expect(refusals).toEqual(['look_ups'])
    await answerAll()
    expect(new Set(await Promise.all(asked.slice(0, -1)))).toEqual(new Set(['ok']))
  })

  it('all begin at once when one finds the datastore away', async () => {
    const asked = many(200, '192.0.2.1')
    await settle()
    under[0]?.answer('datastore_unavailable')
    await settle()
    expect(under).toHaveLength(199)
    await answerAll('datastore_unavailable')
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['datastore_unavailable']))
  })
})
