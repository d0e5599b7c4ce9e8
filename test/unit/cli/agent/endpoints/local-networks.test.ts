import type { NetworkInterfaceInfo } from 'node:os'
import { expect, test } from 'vitest'
import { localCandidates, localNetworks } from '../../../../../src/cli/agent/endpoints/local-networks.ts'
import { parseCidr } from '../../../../../src/shared/networks/cidr.ts'

const at = (address: string, netmask: string, length: number, internal = false): NetworkInterfaceInfo => {
  const common = { address, netmask, cidr: `${address}/${length}`, internal, mac: '00:00:00:00:00:00' }
  return address.includes(':') ? { ...common, family: 'IPv6', scopeid: 0 } : { ...common, family: 'IPv4' }
}
const mesh = parseCidr('100.64.0.0/10')

const INTERFACES = {
  lo: [at('127.0.0.1', '255.0.0.0', 8, true)],
  eth0: [
    at('2001:db8::7', 'ffff:ffff:ffff:ffff::', 64),
    at('fe80::1', 'ffff:ffff:ffff:ffff::', 64),
    at('192.168.1.7', '255.255.255.0', 24),
  ],
  eth1: [at('169.254.3.4', '255.255.0.0', 16), at('10.1.2.3', '255.0.0.0', 8)],
  ts0: [at('100.99.1.1', '255.255.255.255', 32)],
  ctl0: [at('100.64.0.1', '255.255.255.255', 32)],
  'wg-staff': [at('10.99.0.1', '255.255.255.0', 24)],
}

/** The interface of the mesh, and one of user access. */
const isOwn = (name: string): boolean => ['ctl0', 'wg-staff'].includes(name)

test('the candidates of a machine are its addresses without loopback, link-local ones and those of the mesh and of bridges, IPv4 first', () => {
  const networks = localNetworks(isOwn, INTERFACES)
  expect(localCandidates(networks, { port: 51_820, mesh: mesh.ok ? mesh.cidr : undefined })).toEqual([
    '192.168.1.7:51820',
    '10.1.2.3:51820',
    '[2001:db8::7]:51820',
  ])
  expect(networks.find(({ address }) => address === '10.1.2.3')?.cidr).toMatchObject({
    words: [0x0a00_0000],
    masks: [0xff00_0000],
  })
})

test('they are eight at most', () => {
  const many = { eth0: Array.from({ length: 12 }, (_, index) => at(`10.0.0.${index + 1}`, '255.255.255.0', 24)) }
  expect(localCandidates(localNetworks(isOwn, many), { port: 1, mesh: undefined }).length).toBe(8)
})
