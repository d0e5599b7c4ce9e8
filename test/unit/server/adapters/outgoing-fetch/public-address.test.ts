import { describe, expect, it } from 'vitest'
import { isPublicAddress } from '../../../../../src/server/adapters/outgoing-fetch/public-address.ts'

describe('an address is public', () => {
  it.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700:4700::1111', '2a00:1450:4001:830::200e', '64:ff9b::808:808'])(
    'when it is %s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  )
})

describe('an address is not public', () => {
  it.each([
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'of this network'],
    ['10.0.0.1', 'private'],
    ['100.64.0.1', 'shared'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['169.254.169.254', 'link-local, where clouds keep their metadata'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.0.0.1', 'of protocols'],
    ['192.0.2.1', 'of documentation'],
    ['192.88.99.1', 'a relay'],
    ['192.168.0.1', 'private'],
    ['198.18.0.1', 'of benchmarks'],
    ['203.0.113.7', 'of documentation'],
    ['224.0.0.1', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::7f00:1', 'IPv4 loopback in IPv6'],
    ['::ffff:127.0.0.1', 'mapped loopback'],
    ['::ffff:8.8.8.8', 'mapped'],
    ['::ffff:0:8.8.8.8', 'translated'],
    ['64:ff9b::7f00:1', 'loopback behind NAT64'],
    ['64:ff9b::a00:1', 'private behind NAT64'],
    ['64:ff9b:1::1', 'a local NAT64'],
    ['100::1', 'discarded'],
    ['2001::1', 'Teredo'],
    ['2001:db8::1', 'of documentation'],
    ['2002:7f00:1::', '6to4'],
    ['3fff::1', 'of documentation'],
    ['4000::1', 'not assigned'],
    ['fc00::1', 'unique local'],
    ['fd12::1', 'unique local'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local with a zone'],
    ['fec0::1', 'site-local'],
    ['ff02::1', 'multicast'],
    ['', 'nothing'],
    ['localhost', 'a name'],
  ])('when it is %j: %s', (address) => expect(isPublicAddress(address)).toBe(false))
})
