import { describe, expect, it } from 'vitest'
import { outermost, overlaps, readSubnet, spanOf } from '../../../../src/shared/bridges/subnet.ts'

const SPECIAL = 'must not be loopback, link-local or multicast'
const MAPPED = 'must be written as IPv4, not as IPv4-mapped IPv6'
const NETWORK = 'must be a network such as 10.20.0.0/16'

describe('A subnet of a tunnel', () => {
  it.each([
    ['10.20.0.0/16', '10.20.0.0/16'],
    ['192.0.2.1/32', '192.0.2.1/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['126.0.0.0/7', '126.0.0.0/7'],
    ['128.0.0.0/1', '128.0.0.0/1'],
    ['128.0.0.0/8', '128.0.0.0/8'],
    ['223.255.255.0/24', '223.255.255.0/24'],
    ['240.0.0.0/4', '240.0.0.0/4'],
    ['169.253.0.0/16', '169.253.0.0/16'],
    ['100.64.0.0/10', '100.64.0.0/10'],
    ['::/0', '::/0'],
    ['fc00::/7', 'fc00::/7'],
    ['fec0::/10', 'fec0::/10'],
    ['::2/128', '::2/128'],
    ['2001:0DB8:0:0:0:0:0:0/32', '2001:db8::/32'],
    ['64:ff9b::10.0.0.0/104', '64:ff9b::a00:0/104'],
    ['::fffe:0:0/95', '::fffe:0:0/95'],
  ])('%s is %s', (text, canonical) => {
    expect(readSubnet(text)).toEqual({ ok: true, text: canonical })
  })

  it.each([
    ['127.0.0.0/8', SPECIAL],
    ['127.0.0.1/32', SPECIAL],
    ['169.254.0.0/16', SPECIAL],
    ['169.254.169.254/32', SPECIAL],
    ['224.0.0.0/4', SPECIAL],
    ['239.255.255.250/32', SPECIAL],
    ['::1/128', SPECIAL],
    ['fe80::/10', SPECIAL],
    ['febf::/16', SPECIAL],
    ['ff00::/8', SPECIAL],
    ['ff02::1/128', SPECIAL],
    ['::ffff:0:0/96', MAPPED],
    ['::FFFF:10.20.0.0/112', MAPPED],
    ['::ffff:a14:0/112', MAPPED],
    ['0:0:0:0:0:ffff:a14:0/112', MAPPED],
    ['0000:0000:0000:0000:0000:ffff:10.20.0.0/112', MAPPED],
    ['0::0:ffff:10.20.0.1/128', MAPPED],
    ['10.20.0.1/16', 'must have no host bits set'],
    ['2001:db8::1/64', 'must have no host bits set'],
    ['10.20.0.0', 'must have a prefix length'],
    ['10.20.0.0/33', NETWORK],
    ['10.20/16', NETWORK],
    ['vpn.example.org', NETWORK],
    ['', NETWORK],
  ])('%s is refused: %s', (text, rule) => {
    expect(readSubnet(text)).toEqual({ ok: false, rule })
  })
})

describe('Two networks', () => {
  it.each([
    ['10.0.0.0/8', '10.20.0.0/16', true],
    ['10.20.0.0/16', '10.20.0.0/16', true],
    ['10.20.0.0/16', '10.21.0.0/16', false],
    ['10.20.0.0/17', '10.20.128.0/17', false],
    ['0.0.0.0/0', '255.255.255.255/32', true],
    ['0.0.0.0/0', '::/0', false],
    ['10.0.0.0/8', '::a00:0/104', false],
    ['::/0', '2001:db8::1/128', true],
    ['2001:db8::/33', '2001:db8:8000::/33', false],
    ['2001:db8::/32', '2001:db8:ffff:ffff::/64', true],
  ])('%s and %s: %s', (one, other, expected) => {
    expect(overlaps(spanOf(one), spanOf(other))).toBe(expected)
    expect(overlaps(spanOf(other), spanOf(one))).toBe(expected)
  })

  it('have the first and the last address of each', () => {
    expect(spanOf('10.20.0.0/16')).toEqual({ family: 4, first: 0x0a_14_00_00n, last: 0x0a_14_ff_ffn })
    expect(spanOf('::/0')).toEqual({ family: 6, first: 0n, last: 2n ** 128n - 1n })
    expect(spanOf('2001:db8::1/128').first).toBe(0x2001_0db8_0000_0000_0000_0000_0000_0001n)
  })
})

describe('The outermost of several networks', () => {
  it.each([
    ['none', [], []],
    ['all where they are disjoint', ['10.1.0.0/16', '10.0.0.0/16'], ['10.0.0.0/16', '10.1.0.0/16']],
    [
      'those that contain others',
      ['10.0.0.0/16', '10.0.0.0/8', '10.255.0.0/16', '11.0.0.0/8'],
      ['10.0.0.0/8', '11.0.0.0/8'],
    ],
    ['those of each family', ['0.0.0.0/0', '::a00:0/104', '10.0.0.0/8', '::/0'], ['0.0.0.0/0', '::/0']],
  ])('are %s', (_what, subnets, expected) => {
    expect(outermost(subnets)).toEqual(expected)
  })
})
