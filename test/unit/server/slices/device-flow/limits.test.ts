import { describe, expect, it } from 'vitest'
import { WAITING_IN_DOMAIN_MAX } from '../../../../../src/server/slices/device-flow/begin.ts'
import {
  mintUserCode,
  normalizeUserCode,
  showUserCode,
} from '../../../../../src/server/slices/device-flow/user-code.ts'
import { createWrongCodes } from '../../../../../src/server/slices/device-flow/wrong-codes.ts'

const START_MS = Date.parse('2026-03-01T08:00:00.000Z')

/** Whether the try was let through. */
function isLet(count: () => unknown): boolean {
  try {
    count()
    return true
  } catch {
    return false
  }
}

describe('Guessing of user codes', () => {
  it('is held to 5 of 100,000 tries that one session makes within a minute', () => {
    const limit = createWrongCodes()
    const isThrough = Array.from({ length: 100_000 }, (_, at) => isLet(() => limit.count('one', START_MS + at * 0.5)))
    expect(isThrough.filter(Boolean)).toHaveLength(5)
  })

  it('is held to 50 tries of one session while a code lives, however they are spread', () => {
    const limit = createWrongCodes()
    const isThrough = Array.from({ length: 100_000 }, (_, at) => isLet(() => limit.count('one', START_MS + at * 5.99)))
    expect(isThrough.filter(Boolean)).toHaveLength(50)
  })

  it('hits one of as many codes as may wait with 100,000 guesses less than once in a hundred times', () => {
    const codes = 20 ** 8
    expect(codes).toBe(25_600_000_000)
    expect((100_000 * WAITING_IN_DOMAIN_MAX) / codes).toBeLessThan(0.01)
    // What 30 guesses a minute, the limit of an address, come to in the life of a code.
    expect((30 * 10 * WAITING_IN_DOMAIN_MAX) / codes).toBeLessThan(0.000_03)
  })

  it('counts each session by itself, and gives back tries that were right', () => {
    const limit = createWrongCodes()
    for (let at = 0; at < 50; at += 1) limit.count('one', START_MS)()
    for (let at = 0; at < 5; at += 1) limit.count('one', START_MS)
    expect(isLet(() => limit.count('one', START_MS))).toBe(false)
    expect(isLet(() => limit.count('other', START_MS))).toBe(true)
    expect(isLet(() => limit.count('one', START_MS + 60_000))).toBe(true)
  })

  it('remembers 10,000 sessions at most', () => {
    const limit = createWrongCodes()
    for (let at = 0; at < 5; at += 1) limit.count('first', START_MS)
    for (let at = 0; at < 9_999; at += 1) limit.count(`other ${at}`, START_MS)
    expect(isLet(() => limit.count('first', START_MS))).toBe(false)
    limit.count('one more', START_MS)
    expect(isLet(() => limit.count('first', START_MS))).toBe(true)
  })
})

describe('A user code', () => {
  it('is eight letters out of twenty, each as likely as any other', () => {
    const drawn = Array.from({ length: 5_000 }, mintUserCode).join('')
    const counts = 'BCDFGHJKLMNPQRSTVWXZ'.split('').map((letter) => drawn.split(letter).length - 1)
    expect(counts.reduce((sum, count) => sum + count)).toBe(40_000)
    // 2,000 of each, give or take six standard deviations.
    for (const count of counts) expect(Math.abs(count - 2_000)).toBeLessThan(262)
  })

  it.each([
    ['BCDF-GHJK', 'BCDFGHJK'],
    ['bcdfghjk', 'BCDFGHJK'],
    [' b c d f – g h j k ', 'BCDFGHJK'],
    ['BCDF.GHJK', 'BCDFGHJK'],
    ['ABCD-EFGH', undefined],
    ['BCDF-GHJ', undefined],
    ['BCDFGHJKL', undefined],
    ['', undefined],
    ['BCDF-GHJ\u212a', undefined],
  ])('is read from "%s"', (typed, expected) => {
    expect(normalizeUserCode(typed)).toBe(expected)
  })

  it('is shown in two halves', () => {
    expect(showUserCode('BCDFGHJK')).toBe('BCDF-GHJK')
  })
})
