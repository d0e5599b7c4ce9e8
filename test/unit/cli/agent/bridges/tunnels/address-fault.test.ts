import { describe, expect, test } from 'vitest'
import { addressFault } from '../../../../../../src/cli/agent/bridges/tunnels/wireguard/address-fault.ts'
import { acceptMeshNetwork } from '../../../../../../src/cli/agent/server-answers/mesh-network.ts'

const machine = {
  gateways: ['192.0.2.1', '2001:db8::1'],
  uplinks: ['192.0.2.7'],
  resolvers: ['192.0.2.53'],
  connected: [],
  servers: ['198.51.100.4'],
}
const mesh = acceptMeshNetwork({ address: '100.64.0.1', cidr: '100.64.0.0/10' }, { ...machine, others: [] })

describe('the address of a host in a WireGuard tunnel', () => {
  test.each(['10.255.0.2', '192.0.2.2', 'fd00::2'])('may be %s, which nothing else needs', (address) => {
    expect(addressFault(address, { mesh, machine })).toBeUndefined()
  })

  test.each([
    ['100.64.0.1', 'one of the mesh'],
    ['100.99.0.9', 'one of the mesh'],
    ['192.0.2.1', 'the gateway of a default route'],
    ['2001:db8:0:0::1', 'the gateway of a default route'],
    ['192.0.2.7', 'an address of this machine'],
    ['192.0.2.53', 'a name server of this machine'],
    ['198.51.100.4', 'the server'],
  ])('is refused where it is %s, in a sentence without it', (address, what) => {
    expect(addressFault(address, { mesh, machine })).toBe(`address of the secret is ${what}`)
  })

  test('is refused where it is the own one of a mesh of unknown size', () => {
    const unknown = { cidr: undefined, ownAddress: '100.64.0.1' }
    expect(addressFault('100.64.0.1', { mesh: unknown, machine })).toBe('address of the secret is one of the mesh')
  })
})
