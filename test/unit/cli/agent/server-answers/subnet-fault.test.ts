import { describe, expect, test } from 'vitest'
import { subnetFault } from '../../../../../src/cli/agent/server-answers/subnet-fault.ts'
import { acceptMeshNetwork } from '../../../../../src/cli/agent/server-answers/mesh-network.ts'

const machine = {
  gateways: ['192.0.2.1'],
  uplinks: ['192.0.2.7', '2001:db8::7'],
  resolvers: ['192.0.2.53'],
  servers: ['198.51.100.4'],
  connected: ['192.0.2.0/24', '172.17.0.0/16'],
}
const around = {
  mesh: acceptMeshNetwork({ address: '100.64.0.1', cidr: '100.64.0.0/10' }, { ...machine, others: [] }),
  machine,
}

describe('the subnets of a tunnel', () => {
  test('may be any that take nothing from this machine', () => {
    expect(subnetFault(['10.20.0.0/16', '172.16.0.0/12', 'fd00:1::/48', '10.0.0.0/8'], around)).toBeUndefined()
  })

  test.each([
    ['0.0.0.0/0', 'larger than a /8'],
    ['0.0.0.0/1', 'larger than a /8'],
    ['::/0', 'larger than a /7'],
    ['100.64.0.0/16', 'overlaps with the mesh'],
    ['100.0.0.0/8', 'overlaps with the mesh'],
    ['192.0.0.0/16', 'the gateway of a default route'],
    ['192.0.2.7/32', 'an address of this machine'],
    ['2001:db8::/32', 'an address of this machine'],
    ['192.0.2.53/32', 'a name server of this machine'],
    ['198.51.100.0/24', 'the server'],
    ['192.0.2.128/25', 'part of 192.0.2.0/24'],
    ['172.17.0.0/16', 'part of 172.17.0.0/16'],
    ['10.20.0.1/16', 'is not a subnet'],
    ['127.0.0.0/8', 'is not a subnet'],
    ['10.20.0.0/16\nadd', 'is not a subnet'],
    ['default', 'is not a subnet'],
  ])('are refused with %s', (subnet, sentence) => {
    expect(subnetFault(['10.20.0.0/16', subnet], around)).toContain(sentence)
  })

  test('are refused where there is none, and where they have the own address of a mesh of unknown size', () => {
    expect(subnetFault([], around)).toBe('it has no subnet')
    const mesh = { cidr: undefined, ownAddress: '100.64.0.1' }
    expect(subnetFault(['100.64.0.0/16'], { ...around, mesh })).toContain('overlaps with the mesh, 100.64.0.1/32')
  })
})
