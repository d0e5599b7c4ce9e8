import { describe, expect, test } from 'vitest'
import { byteOrder, sortedSet } from '../../../../src/shared/selectors/byte-order.ts'
import { parseKey } from '../../../../src/shared/selectors/read-key.ts'
import { parseScope, scopeText, type Scope } from '../../../../src/shared/selectors/syntax.ts'
import { DOMAIN } from './definitions.ts'

describe('A scope', () => {
  test.each<[string, Scope]>([
    ['platform', { kind: 'platform' }],
    [`domain:${DOMAIN}`, { kind: 'domain', id: DOMAIN }],
    [`project:${DOMAIN}`, { kind: 'project', id: DOMAIN }],
  ])('is %s', (text, scope) => {
    expect(parseScope(text)).toEqual(scope)
    expect(scopeText(scope)).toBe(text)
  })

  test('has its id in lower case', () => {
    expect(parseScope(`domain:${DOMAIN.toUpperCase()}`)).toEqual({ kind: 'domain', id: DOMAIN })
  })

  test.each([
    '',
    'Platform',
    'platform:',
    `domain:${'-'.repeat(36)}`,
    'domain:00000000-0000-0000-0000-000000000000',
    `domain:${DOMAIN.replaceAll('-', '')}`,
    `DOMAIN:${DOMAIN}`,
    `node:${DOMAIN}`,
    ` domain:${DOMAIN}`,
    `domain:${DOMAIN}\n`,
  ])('is not %j', (text) => {
    expect(parseScope(text)).toBeUndefined()
  })
})

describe('A key by itself', () => {
  test.each<[string, { scope: Scope | undefined; localKey: string } | undefined]>([
    ['env', { scope: undefined, localKey: 'env' }],
    ['a/b', { scope: undefined, localKey: 'a/b' }],
    ['platform/env', { scope: { kind: 'platform' }, localKey: 'env' }],
    [`domain:${DOMAIN.toUpperCase()}/a.b`, { scope: { kind: 'domain', id: DOMAIN }, localKey: 'a.b' }],
    ['', undefined],
    ['Env', undefined],
    ['platform/', undefined],
    ['env=a', undefined],
    [' env', undefined],
    ['env\n', undefined],
    [`domain:${DOMAIN}`, undefined],
    ['a'.repeat(129), undefined],
  ])('%j', (text, expected) => {
    expect(parseKey(text)).toEqual(expected)
  })
})

describe('The order of UTF-8 bytes', () => {
  test.each([
    ['a', 'a', 0],
    ['', 'a', -1],
    ['a', 'ab', -1],
    ['Z', 'a', -1],
    ['a', 'é', -1],
    ['\uffee', '\u{1f680}', -1],
  ])('%j before %j', (one, other, expected) => {
    expect(Math.sign(byteOrder(one, other))).toBe(expected)
    expect(Math.sign(byteOrder(other, one)) + expected).toBe(0)
    expect(Math.sign(Buffer.compare(Buffer.from(one), Buffer.from(other)))).toBe(expected)
  })

  test('sorts a set', () => {
    expect(sortedSet(['b', '\u{1f680}', 'a', '\uffee', 'b'])).toEqual(['a', 'b', '\uffee', '\u{1f680}'])
  })
})
