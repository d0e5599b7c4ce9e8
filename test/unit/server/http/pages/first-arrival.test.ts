import { describe, expect, test } from 'vitest'
import { refreshTarget, withoutMark } from '../../../../../src/server/http/pages/first-arrival.ts'

const NOW_MS = 1_772_352_000_000
const FROM_ELSEWHERE = {
  target: '/v1/device',
  fetchSite: 'cross-site',
  host: 'ctl.example',
  isSecure: true,
  nowMs: NOW_MS,
}

describe('a page that arrives without a session', () => {
  test('asks for itself again after a navigation that began on another site', () => {
    expect(refreshTarget(FROM_ELSEWHERE)).toBe('/v1/device?arrived=1772352000')
  })

  test('keeps its query', () => {
    const target = '/v1/device?user_code=BCDF-GHJK'
    expect(refreshTarget({ ...FROM_ELSEWHERE, target })).toBe('/v1/device?user_code=BCDF-GHJK&arrived=1772352000')
  })

  test.each([
    ['just now', 1_772_352_000, undefined],
    ['a minute ago', 1_772_351_940, undefined],
    ['longer ago', 1_772_351_939, '/v1/device?arrived=1772352000'],
    ['in the future', 1_772_352_001, '/v1/device?arrived=1772352000'],
  ])('asks once: one that asked %s %#', (_, mark, again) => {
    expect(refreshTarget({ ...FROM_ELSEWHERE, target: `/v1/device?arrived=${mark}` })).toBe(again)
  })

  test.each([
    ['typed in', 'none'],
    ['from this origin', 'same-origin'],
    ['from a sibling, whose navigations carry the cookie', 'same-site'],
  ])('is taken at its word when it was %s', (_, fetchSite) => {
    expect(refreshTarget({ ...FROM_ELSEWHERE, fetchSite })).toBeUndefined()
  })

  test.each([
    [
      'plain HTTP, where browsers do not say where it began',
      'ctl.example:7443',
      false,
      '/v1/device?arrived=1772352000',
    ],
    ['TLS, where they do', 'ctl.example', true, undefined],
    ['loopback, where they do', '127.0.0.1:7443', false, undefined],
    ['localhost, where they do', 'localhost:7443', false, undefined],
  ])('without a word, over %s', (_, host, isSecure, again) => {
    expect(refreshTarget({ ...FROM_ELSEWHERE, fetchSite: undefined, host, isSecure })).toBe(again)
  })
})

test.each([
  ['/v1/device', '/v1/device'],
  ['/v1/device?arrived=1772352000', '/v1/device'],
  ['/v1/device?arrived=1&user_code=BCDF-GHJK', '/v1/device?user_code=BCDF-GHJK'],
  ['/v1/device?user_code=BCDF-GHJK&arrived=x&arrived=y', '/v1/device?user_code=BCDF-GHJK'],
])('without its mark %s is %s', (target, plain) => {
  expect(withoutMark(target)).toBe(plain)
})
