import { describe, expect, it } from 'vitest'
import { returnPathOf } from '../../../../../src/server/slices/sign-in/return-path.ts'

describe('The place that a sign-in comes back to', () => {
  it.each([
    ['/', '/'],
    ['/v1/device', '/v1/device'],
    ['/v1/device?user_code=BCDF-GHJK&x=//y#z', '/v1/device?user_code=BCDF-GHJK&x=//y#z'],
    ['/a/../b', '/b'],
    ['/ä ö', '/%C3%A4%20%C3%B6'],
    ['/%2F/evil.example', '/%2F/evil.example'],
    ['/@evil.example', '/@evil.example'],
  ])('is the path %j', (wanted, path) => {
    expect(returnPathOf(wanted)).toBe(path)
  })

  it.each([
    undefined,
    '',
    'v1/device',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/v1\\..\\..\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/v1\r\nSet-Cookie: x=y',
    '\t//evil.example',
    '/.//evil.example',
    '/x/..//evil.example',
    '/v1/%2e%2e//evil.example/..//..//evil.example/..',
    '/\u0085/evil.example',
    '/\u2028/evil.example',
    '/\u0000',
    'https://evil.example/',
    'https:evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    '?x=/',
    '#/',
    ' /',
  ])('is / in place of %j', (wanted) => {
    expect(returnPathOf(wanted)).toBe('/')
  })
})
