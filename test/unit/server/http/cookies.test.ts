import { describe, expect, test } from 'vitest'
import { createIsSecure } from '../../../../src/server/http/client-address.ts'
import { cookieOf, setCookie } from '../../../../src/server/http/cookies.ts'
import { prefersHtml } from '../../../../src/server/http/browser-facts.ts'

describe('the value of a cookie', () => {
  test.each([
    ['a=1', '1'],
    ['b=2; a=1; c=3', '1'],
    ['b=2;a=1', '1'],
    ['  a  =  1  ', '1'],
    ['a=', ''],
    ['a=x=y', 'x=y'],
    ['a=1; a=2', '1'],
    ['aa=1; xa=2', undefined],
    ['a', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('in %j is %j', (header, value) => {
    expect(cookieOf(header, 'a')).toBe(value)
  })
})

describe('a cookie that is set', () => {
  const cookie = { name: 'a', value: '1', path: '/v1/', sameSite: 'Strict', isHttpOnly: true } as const
  const versions = { prefixes: ['/v1/'] }

  test('says all that limits it', () => {
    expect(setCookie(cookie, { isSecure: true, versions })).toEqual([
      'a=1; Path=/v1/; SameSite=Strict; HttpOnly; Secure',
    ])
  })
  test('is not Secure where the request came in clear: the browser would not send it back', () => {
    expect(setCookie(cookie, { isSecure: false, versions })).toEqual(['a=1; Path=/v1/; SameSite=Strict; HttpOnly'])
  })
  test('may be read by scripts, and may end', () => {
    const readable = { ...cookie, isHttpOnly: false, sameSite: 'Lax', maxAgeSeconds: 0 } as const
    expect(setCookie(readable, { isSecure: false, versions })).toEqual(['a=1; Path=/v1/; SameSite=Lax; Max-Age=0'])
  })
  test('of the API is set for each major version that is served, and of another path once', () => {
    const scope = { isSecure: false, versions: { prefixes: ['/v1/', '/v2/'] } }
    expect(setCookie(cookie, scope)).toEqual([
      'a=1; Path=/v1/; SameSite=Strict; HttpOnly',
      'a=1; Path=/v2/; SameSite=Strict; HttpOnly',
    ])
    expect(setCookie({ ...cookie, path: '/oidc' }, scope)).toEqual(['a=1; Path=/oidc; SameSite=Strict; HttpOnly'])
  })
})

describe('a request came over TLS', () => {
  const isSecure = createIsSecure(['10.0.0.0/8'])
  test.each([
    ['to this server', '203.0.113.1', true, undefined, true],
    ['to this server, whatever a header says', '203.0.113.1', true, 'http', true],
    ['to a trusted proxy that says so', '10.0.0.1', false, 'https', true],
    ['to a trusted proxy that says so in its own spelling', '10.0.0.1', false, ' HTTPS ', true],
    ['to a trusted proxy behind a mapped address', '::ffff:10.0.0.1', false, 'https', true],
    ['not by the word of anybody else', '203.0.113.1', false, 'https', false],
    ['not to a proxy that says otherwise', '10.0.0.1', false, 'http', false],
    ['not to a proxy that says nothing', '10.0.0.1', false, undefined, false],
    ['not by the word of nobody', undefined, false, 'https', false],
  ])('%s', (_, peer, isTls, proto, verdict) => {
    expect(isSecure(peer, isTls, proto)).toBe(verdict)
  })
  test('and no proxy is trusted by default', () => {
    expect(createIsSecure([])('10.0.0.1', false, 'https')).toBe(false)
  })
})

describe('a page is preferred', () => {
  test.each([
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
    ['TEXT/HTML;charset=utf-8', true],
    ['application/xhtml+xml', true],
    ['application/json, text/html', false],
    ['*/*', false],
    ['', false],
    [undefined, false],
  ])('by %j: %s', (accept, verdict) => {
    expect(prefersHtml(accept)).toBe(verdict)
  })
})
