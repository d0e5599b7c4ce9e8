import { expect, test } from 'vitest'
import { meshAddress, meshBlock } from '../../../../../src/server/slices/nodes/mesh-address.ts'

test.each([
  ['100.64.0.0/10', 1, '100.64.0.1', 4_194_302, '100.127.255.254'],
  ['100.64.8.0/24', 1, '100.64.8.1', 254, '100.64.8.254'],
  ['100.64.8.128/30', 1, '100.64.8.129', 2, '100.64.8.130'],
  ['255.255.255.0/24', 1, '255.255.255.1', 254, '255.255.255.254'],
])('the addresses of %s leave out the network and the broadcast address', (cidr, first, low, last, high) => {
  const block = meshBlock(cidr)
  expect(block.last).toBe(last)
  expect([meshAddress(block, first), meshAddress(block, last)]).toEqual([low, high])
})

test.each(['100.64.0.0/31', '100.64.0.1/32'])('%s has no address for a node', (cidr) => {
  expect(meshBlock(cidr).last).toBe(0)
})

test.each(['fd00::/64', '100.64.0.0', ''])('%o is no IPv4 block', (cidr) => {
  expect(() => meshBlock(cidr)).toThrow(RangeError)
})
