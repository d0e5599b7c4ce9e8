import { describe, expect, it } from 'vitest'
import { normalizeCidr, normalizeMeshCidr } from '../../../../../src/server/slices/domains/networks.ts'

describe('normalizeCidr', () => {
  it.each([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['192.0.2.7/32', '192.0.2.7/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8:0:0:0:0:0:1/32', '2001:db8::/32'],
    ['::1/128', '::1/128'],
    ['::/0', '::/0'],
    ['fe80::/10', 'fe80::/10'],
    ['::ffff:10.1.2.3/104', '10.0.0.0/8'],
    ['::ffff:10.1.2.3/128', '10.1.2.3/32'],
    ['::ffff:0:0/90', '::ffc0:0:0/90'],
    ['64:ff9b::192.0.2.0/120', '64:ff9b::c000:200/120'],
  ])('takes %s as %s', (text, network) => {
    expect(normalizeCidr(text)).toBe(network)
  })

  it.each([
    ['no prefix', '10.0.0.0'],
    ['a prefix too long for IPv4', '10.0.0.0/33'],
    ['a prefix too long for IPv6', '::1/129'],
    ['a negative prefix', '10.0.0.0/-1'],
    ['a prefix with a leading zero', '10.0.0.0/08'],
    ['an empty prefix', '10.0.0.0/'],
    ['two prefixes', '10.0.0.0/8/8'],
    ['a shortened address', '10.1/8'],
    ['a single number', '167772160/8'],
    ['an octal part', '010.0.0.0/8'],
    ['a hexadecimal part', '0x0a.0.0.0/8'],
    ['a part above 255', '10.0.0.256/8'],
    ['an octal part at the end of IPv6', '::ffff:010.0.0.1/128'],
    ['a zone', 'fe80::1%eth0/64'],
    ['a name', 'localhost/8'],
    ['a leading space', ' 10.0.0.0/8'],
    ['a trailing line break', '10.0.0.0/8\n'],
    ['nothing', ''],
  ])('refuses %s', (_what, text) => {
    expect(normalizeCidr(text)).toBeUndefined()
  })
})

describe('normalizeMeshCidr', () => {
  it.each([
    ['100.64.0.0/10', '100.64.0.0/10'],
    ['100.127.255.255/30', '100.127.255.252/30'],
    ['100.70.5.9/24', '100.70.5.0/24'],
    ['::ffff:100.70.5.9/120', '100.70.5.0/24'],
  ])('takes %s as %s', (text, network) => {
    expect(normalizeMeshCidr(text)).toBe(network)
  })

  it.each([
    ['a network that is wider than the range', '100.64.0.0/9'],
    ['everything', '0.0.0.0/0'],
    ['the network before the range', '100.63.255.0/24'],
    ['the network after the range', '100.128.0.0/24'],
    ['a network of two addresses', '100.64.0.0/31'],
    ['a single address', '100.64.0.1/32'],
    ['an IPv6 network', 'fd00::/8'],
    ['no network', 'mesh'],
  ])('refuses %s', (_what, text) => {
    expect(normalizeMeshCidr(text)).toBeUndefined()
  })
})
