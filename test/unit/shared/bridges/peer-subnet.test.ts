import { describe, expect, it } from 'vitest'
import {
  freePeerAddress,
  hostAddressOf,
  isPeerAddress,
  peerCountOf,
  readPeerSubnet,
} from '../../../../src/shared/bridges/peer-subnet.ts'

describe('The subnet of the peers of a user-access provider', () => {
  it('is an IPv4 network with room for a peer and for the hosts', () => {
    expect(readPeerSubnet('10.99.0.0/24')).toEqual({ ok: true, text: '10.99.0.0/24' })
    expect(readPeerSubnet('10.0.0.0/8').ok).toBe(true)
    for (const text of ['10.99.0.0/31', '0.0.0.0/0', '8.0.0.0/7', 'fd00::/64', '10.99.0.1/24', '169.254.0.0/24', 'x'])
      expect(readPeerSubnet(text).ok, text).toBe(false)
  })

  it('has its first address for the hosts, and all others but the last for peers', () => {
    expect(hostAddressOf('192.168.7.0/30')).toBe('192.168.7.1')
    expect([peerCountOf('192.168.7.0/30'), peerCountOf('10.99.0.0/24')]).toEqual([1, 253])
    const addresses = ['192.168.7.0', '192.168.7.1', '192.168.7.2', '192.168.7.3', '192.168.8.2', 'fd00::2']
    expect(addresses.filter((address) => isPeerAddress('192.168.7.0/30', address))).toEqual(['192.168.7.2'])
  })

  it('gives the lowest address that is free, until none is', () => {
    expect(freePeerAddress('10.99.0.0/24', new Set())).toBe('10.99.0.2')
    expect(freePeerAddress('10.99.0.0/24', new Set(['10.99.0.2', '10.99.0.4']))).toBe('10.99.0.3')
    expect(freePeerAddress('10.99.0.0/30', new Set(['10.99.0.2']))).toBeUndefined()
    expect(freePeerAddress('10.99.0.0/23', new Set(many(254)))).toBe('10.99.1.0')
  })
})

const many = (count: number) => Array.from({ length: count }, (_, at) => `10.99.0.${at + 2}`)
