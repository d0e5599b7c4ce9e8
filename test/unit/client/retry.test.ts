import { describe, expect, it } from 'vitest'
import { TransportFailure } from '../../../src/client/failures.ts'
import { retryAfterSeconds, withRetries, type RetryClock } from '../../../src/client/retry.ts'
import type { HttpAnswer } from '../../../src/client/transport.ts'

const answer = (status: number, headers: Record<string, string> = {}): HttpAnswer => ({
  status,
  headers,
  body: Buffer.alloc(0),
})

/** A clock that stands still but for sleeps, which it records. */
function frozen(chance = 1): RetryClock & { readonly sleeps: number[] } {
  let nowMs = 0
  const sleeps: number[] = []
  return {
    sleeps,
    nowMs: () => nowMs,
    random: () => chance,
    sleep: async (ms) => {
      sleeps.push(ms)
      nowMs += ms
    },
  }
}

/** Sends what the script says, one after the other; a failure is thrown. */
function scripted(outcomes: readonly (HttpAnswer | Error)[]): { send: () => Promise<HttpAnswer>; sent: () => number } {
  let count = 0
  return {
    sent: () => count,
    send: async () => {
      const outcome = outcomes[count] ?? answer(500)
      count += 1
      if (outcome instanceof Error) throw outcome
      return outcome
    },
  }
}

describe('A repeatable call', () => {
  it.each([429, 502, 503, 504])('is repeated after %d', async (status) => {
    const wire = scripted([answer(status), answer(200)])
    const got = await withRetries(wire.send, { repeatable: true, timeoutMs: 30_000 }, frozen())
    expect([got.status, wire.sent()]).toEqual([200, 2])
  })

  it.each([200, 400, 401, 404, 409, 500, 501])('is not repeated after %d', async (status) => {
    const wire = scripted([answer(status)])
    const got = await withRetries(wire.send, { repeatable: true, timeoutMs: 30_000 }, frozen())
    expect([got.status, wire.sent()]).toEqual([status, 1])
  })

  it('is repeated after the connection broke', async () => {
    const wire = scripted([new TransportFailure('broken', 'x'), answer(200)])
    expect((await withRetries(wire.send, { repeatable: true, timeoutMs: 30_000 }, frozen())).status).toBe(200)
  })

  it.each(['timeout', 'aborted', 'untrusted', 'unreadable'] as const)('is not repeated after %s', async (fault) => {
    const wire = scripted([new TransportFailure(fault, 'x')])
    await expect(withRetries(wire.send, { repeatable: true, timeoutMs: 30_000 }, frozen())).rejects.toMatchObject({
      fault,
    })
    expect(wire.sent()).toBe(1)
  })

  it('is tried three times without a connection', async () => {
    const wire = scripted(Array.from({ length: 9 }, () => new TransportFailure('unreachable', 'x')))
    await expect(withRetries(wire.send, { repeatable: true, timeoutMs: 30_000 }, frozen())).rejects.toMatchObject({
      fault: 'unreachable',
    })
    expect(wire.sent()).toBe(3)
  })

  it('is tried five times, with full jitter and doubling pauses', async () => {
    const clock = frozen(1)
    const wire = scripted(Array.from({ length: 9 }, () => answer(503)))
    expect((await withRetries(wire.send, { repeatable: true, timeoutMs: 30_000 }, clock)).status).toBe(503)
    expect([wire.sent(), clock.sleeps]).toEqual([5, [200, 400, 800, 1600]])
  })

  it('can have a pause of 0, since jitter is full', async () => {
    const clock = frozen(0)
    await withRetries(scripted([answer(503), answer(200)]).send, { repeatable: true, timeoutMs: 30_000 }, clock)
    expect(clock.sleeps).toEqual([0])
  })

  it('waits at least as long as Retry-After', async () => {
    const clock = frozen(0.5)
    await withRetries(
      scripted([answer(429, { 'retry-after': '3' }), answer(200)]).send,
      { repeatable: true, timeoutMs: 30_000 },
      clock,
    )
    expect(clock.sleeps).toEqual([3100])
  })

  it('returns the last answer if the next pause exceeds the deadline', async () => {
    const clock = frozen(0)
    const wire = scripted([answer(429, { 'retry-after': '60' }), answer(200)])
    expect((await withRetries(wire.send, { repeatable: true, timeoutMs: 30_000 }, clock)).status).toBe(429)
    expect([wire.sent(), clock.sleeps]).toEqual([1, []])
  })

  it('is not repeated shortly before the deadline', async () => {
    const clock = frozen(1)
    const wire = scripted(Array.from({ length: 9 }, () => answer(503)))
    expect((await withRetries(wire.send, { repeatable: true, timeoutMs: 800 }, clock)).status).toBe(503)
    expect([wire.sent(), clock.sleeps]).toEqual([2, [200]])
  })

  it('is not repeated where a pause took longer than asked for and left no time', async () => {
    let nowMs = 0
    const slow: RetryClock = { nowMs: () => nowMs, random: () => 1, sleep: async () => void (nowMs = 30_200) }
    const wire = scripted([answer(503), answer(200)])
    const got = await withRetries(wire.send, { repeatable: true, timeoutMs: 30_000 }, slow)
    expect([got.status, wire.sent()]).toEqual([503, 1])
  })

  it('gets the remaining time of the deadline', async () => {
    const left: number[] = []
    const clock = frozen(1)
    const send = async (remainingMs: number): Promise<HttpAnswer> => {
      left.push(remainingMs)
      return answer(left.length < 3 ? 503 : 200)
    }
    await withRetries(send, { repeatable: true, timeoutMs: 1000 }, clock)
    expect(left).toEqual([1000, 800, 400])
  })
})

describe('A call that is not repeatable', () => {
  it.each([answer(503), answer(429, { 'retry-after': '0' })])('is sent once, whatever the answer', async (first) => {
    const wire = scripted([first, answer(200)])
    expect((await withRetries(wire.send, { repeatable: false, timeoutMs: 30_000 }, frozen())).status).toBe(first.status)
    expect(wire.sent()).toBe(1)
  })

  it.each(['unreachable', 'broken'] as const)('is sent once even if the connection was %s', async (fault) => {
    const wire = scripted([new TransportFailure(fault, 'x'), answer(200)])
    await expect(withRetries(wire.send, { repeatable: false, timeoutMs: 30_000 }, frozen())).rejects.toMatchObject({
      fault,
    })
    expect(wire.sent()).toBe(1)
  })
})

describe('Retry-After', () => {
  const NOW = Date.parse('2026-02-01T12:00:00Z')
  it.each([
    ['7', 7],
    ['0', 0],
    ['Sun, 01 Feb 2026 12:00:05 GMT', 5],
    ['Sun, 01 Feb 2026 11:00:00 GMT', 0],
    ['soon', undefined],
    ['-3', undefined],
  ])('%j is %j seconds', (text, seconds) => {
    expect(retryAfterSeconds(answer(429, { 'retry-after': text }), NOW)).toBe(seconds)
  })
})
