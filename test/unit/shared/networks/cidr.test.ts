import { describe, expect, it } from 'vitest'
import { containsAddress, parseAddress, parseCidr } from '../../../../src/shared/networks/cidr.ts'

const textOf = (text: string): string => {
  const read = parseCidr(text)
  return read.ok ? read.cidr.text : read.fault
}

const contains = (cidr: string, address: string): boolean => {
  const read = parseCidr(cidr)
  return read.ok && containsAddress(read.cidr, parseAddress(address) ?? [])
}

describe('The text of a network', () => {
  it.each([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['255.255.255.255/32', '255.255.255.255/32'],
    ['192.0.2.128/25', '192.0.2.128/25'],
    ['::/0', '::/0'],
    ['2001:DB8::/32', '2001:db8::/32'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001/128', '2001:db8::1/128'],
    ['2001:db8:0:1:1:1:1:1/128', '2001:db8:0:1:1:1:1:1/128'],
    ['2001:0:0:1:0:0:0:1/128', '2001:0:0:1::1/128'],
    ['2001:db8:0:0:1:0:0:1/128', '2001:db8::1:0:0:1/128'],
    ['1::/16', '1::/16'],
    ['::192.0.2.1/128', '::c000:201/128'],
    ['fe80::/10', 'fe80::/10'],
  ])('%s is %s', (text, canonical) => {
    expect(textOf(text)).toBe(canonical)
    expect(textOf(canonical)).toBe(canonical)
  })

  it.each([
    ['10.0.0.1', 'no_prefix'],
    ['2001:db8::1', 'no_prefix'],
    ['10.0.0.1/8', 'host_bits'],
    ['128.0.0.0/0', 'host_bits'],
    ['2001:db8::1/64', 'host_bits'],
    ['2001:db8:8000::/32', 'host_bits'],
    ['::ffff:10.0.0.0/104', 'mapped'],
    ['::ffff:a00:1/128', 'mapped'],
    ['', 'malformed'],
    ['/8', 'malformed'],
    ['10.0.0.0/', 'malformed'],
    ['10.0.0.0/33', 'malformed'],
    ['10.0.0.0/08', 'malformed'],
    ['10.0.0.0/+8', 'malformed'],
    ['10.0.0.0/8/8', 'malformed'],
    ['10.0.0/8', 'malformed'],
    ['010.0.0.0/8', 'malformed'],
    ['10.0.0.256/32', 'malformed'],
    ['10.0.0.0 /8', 'malformed'],
    ['::/129', 'malformed'],
    ['1::2::3/128', 'malformed'],
    [':::/0', 'malformed'],
    ['1:2:3:4:5:6:7:8:9/128', 'malformed'],
    ['1:2:3:4:5:6:7/128', 'malformed'],
    ['1:2:3:4:5:6:7:8::/128', 'malformed'],
    ['12345::/16', 'malformed'],
    ['fe80::%eth0/128', 'malformed'],
    ['192.0.2.1::/128', 'malformed'],
    ['1.2.3.4:5::/128', 'malformed'],
    ['all', 'malformed'],
  ])('%j is refused: %s', (text, fault) => {
    expect(textOf(text)).toBe(fault)
  })
})

describe('A network contains', () => {
  it.each([
    ['100.64.0.0/10', '100.127.255.255', true],
    ['100.64.0.0/10', '100.128.0.0', false],
    ['0.0.0.0/0', '255.255.255.255', true],
    ['128.0.0.0/1', '128.0.0.0', true],
    ['128.0.0.0/1', '127.255.255.255', false],
    ['192.0.2.7/32', '192.0.2.7', true],
    ['192.0.2.7/32', '192.0.2.6', false],
    ['2001:db8::/33', '2001:db8:7fff::1', true],
    ['2001:db8::/33', '2001:db8:8000::1', false],
    ['2001:db8::1/128', '2001:db8::1', true],
    ['::/0', '10.0.0.1', false],
    ['0.0.0.0/0', '::a00:1', false],
    ['0.0.0.0/0', 'web-1', false],
  ])('%s, %s: %s', (cidr, address, expected) => {
    expect(contains(cidr, address)).toBe(expected)
  })
})
