import { describe, expect, it } from 'vitest'
import { isSniHost, lowerCased } from '../../../../src/shared/bridges/sni-host.ts'

const label = (length: number) => 'a'.repeat(length)
const host253 = [label(63), label(63), label(63), label(61)].join('.')

describe('A server name', () => {
  it.each([
    'shop.example.org',
    'a.b',
    '1.example.org',
    'xn--bcher-kva.example',
    'shop.xn--p1ai',
    'r3---sn-4g5e.example.org',
    '*.example.org',
    `${label(63)}.org`,
    host253,
  ])('%s is valid', (host) => {
    expect(isSniHost(host)).toBe(true)
  })

  it.each([
    ['nothing', ''],
    ['one label', 'localhost'],
    ['a U-label', 'bücher.example'],
    ['an upper-case letter', 'Shop.example.org'],
    ['a trailing dot', 'shop.example.org.'],
    ['a leading dot', '.example.org'],
    ['an empty label', 'shop..example.org'],
    ['a label that begins with a hyphen', '-shop.example.org'],
    ['a label that ends in a hyphen', 'shop-.example.org'],
    ['no more of an A-label than its prefix', 'xn--.example.org'],
    ['an underscore', 'my_shop.example.org'],
    ['a label of 64 characters', `${label(64)}.org`],
    ['254 characters', `a${host253}`],
    ['an IPv4 address', '192.0.2.1'],
    ['a short IPv4 address', '192.1'],
    ['a hexadecimal IPv4 address', '192.0.2.0x1'],
    ['an empty hexadecimal number', '192.0.2.0x'],
    ['an IPv6 address', '2001:db8::1'],
    ['an IPv6 address in brackets', '[2001:db8::1]'],
    ['a port', 'shop.example.org:443'],
    ['a space', 'shop.example.org '],
    ['a line break', 'shop.example.org\n'],
    ['a wildcard alone', '*'],
    ['a wildcard of one label', '*.org'],
    ['a wildcard of no label', '*.'],
    ['a wildcard within', 'shop.*.org'],
    ['a wildcard within a label', '*shop.example.org'],
    ['two wildcards', '*.*.example.org'],
    ['a wildcard of an address', '*.192.0.2.1'],
  ])('%s is refused', (_what, host) => {
    expect(isSniHost(host)).toBe(false)
  })

  it.each([
    ['Shop.Example.ORG', 'shop.example.org'],
    ['*.EXAMPLE.org', '*.example.org'],
    ['\u212Aiosk.example', '\u212Aiosk.example'],
    ['BÜCHER.example', 'bÜcher.example'],
  ])('%s in lower case is %s', (given, expected) => {
    expect(lowerCased(given)).toBe(expected)
  })
})
