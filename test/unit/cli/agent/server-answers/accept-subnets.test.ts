import { describe, expect, test } from 'vitest'
import { createSubnetGate } from '../../../../../src/cli/agent/server-answers/accept-subnets.ts'
import { parseCidr } from '../../../../../src/shared/networks/cidr.ts'

const mesh = parseCidr('100.64.0.0/10')
const TERMS = {
  mesh: { cidr: mesh.ok ? mesh.cidr : undefined, ownAddress: '100.64.0.1' },
  machine: {
    gateways: ['192.168.1.1'],
    uplinks: ['192.168.1.7'],
    resolvers: ['9.9.9.9'],
    servers: ['198.51.100.9'],
    connected: ['192.168.1.0/24', '172.17.0.0/16'],
  },
  hosted: [] as readonly string[],
}

function taken(subnets: readonly string[], terms: Partial<typeof TERMS> = {}) {
  const refused: string[] = []
  const gate = createSubnetGate({ ...TERMS, ...terms })
  return { subnets: gate.take(subnets, (subnet, why) => void refused.push(`${subnet}: ${why}`)), refused, gate }
}

describe('the subnets of a peer', () => {
  test('are routed where they meet nothing of this machine', () => {
    expect(taken(['10.20.0.0/16', '172.16.9.0/24'])).toMatchObject({
      subnets: ['10.20.0.0/16', '172.16.9.0/24'],
      refused: [],
    })
  })

  test.each([
    ['a part of a network of this machine', '172.17.9.0/24', 'part of 172.17.0.0/16'],
    ['link-local addresses', '169.254.7.0/24', 'is not a subnet'],
    ['multicast', '224.1.0.0/16', 'is not a subnet'],
    ['the uplink', '192.168.1.7/32', 'an address of this machine in it: 192.168.1.7'],
    ['the gateway', '192.168.1.1/32', 'the gateway of a default route in it: 192.168.1.1'],
    ['the server', '198.51.0.0/16', 'the server in it: 198.51.100.9'],
    ['a name server', '9.0.0.0/8', 'a name server of this machine in it: 9.9.9.9'],
    ['everything', '0.0.0.0/0', 'larger than a /8'],
    ['a half of everything', '128.0.0.0/1', 'larger than a /8'],
    ['the mesh', '100.64.7.0/24', 'overlaps with the mesh'],
    ['a network around the mesh', '100.0.0.0/8', 'overlaps with the mesh'],
    ['loopback', '127.0.0.0/8', 'is not a subnet'],
    ['another spelling', '10.20.0.1/16', 'is not a subnet'],
    ['another text', '10.20.0.0/16\nroute del default', 'is not a subnet'],
    ['IPv6', 'fd00::/64', 'IPv4 alone'],
  ])('are refused with %s', (_, subnet, why) => {
    const { subnets, refused } = taken([subnet, '10.20.0.0/16'])
    expect(subnets).toEqual(['10.20.0.0/16'])
    expect(refused).toEqual([expect.stringContaining(why)])
  })

  test('are those of the first peer that has them', () => {
    const { gate, subnets } = taken(['10.20.0.0/16'])
    const refused: string[] = []
    expect(subnets).toEqual(['10.20.0.0/16'])
    expect(gate.take(['10.20.0.0/16'], (_, why) => void refused.push(why))).toEqual([])
    expect(refused).toEqual(['another peer has it'])
  })

  test('are left out without a word where this node hosts the tunnel itself', () => {
    expect(taken(['10.20.7.0/24', '10.30.0.0/16'], { hosted: ['10.20.0.0/16'] })).toMatchObject({
      subnets: ['10.30.0.0/16'],
      refused: [],
    })
  })

  test('are refused where the mesh is not known', () => {
    expect(taken(['10.20.0.0/16'], { mesh: { ...TERMS.mesh, cidr: undefined } }).subnets).toEqual([])
  })
})
