import { describe, expect, test } from 'vitest'
import { seenEndpoints } from '../../../../../src/cli/agent/endpoints/seen-endpoints.ts'
import type { PlacedEndpoint } from '../../../../../src/cli/agent/tunnel/plan-tunnel.ts'
import { had, KEYS } from '../../../../support/mesh/device-records.ts'

const NOW = 1_000_000
const ENDPOINT = '203.0.113.7:51820'
const isRelay = (endpoint: string): boolean => endpoint === '203.0.113.7:51821'

function seen(facts: Partial<Parameters<typeof had>[0]>, placed?: PlacedEndpoint) {
  const status = had({ publicKey: KEYS[0], endpoint: ENDPOINT, latestHandshakeMs: NOW, receivedBytes: 92, ...facts })
  return seenEndpoints([{ nodeId: 'n', status, placed }], { nowMs: NOW, isRelay }).map(({ endpoint }) => endpoint)
}

describe('where a peer is seen', () => {
  test.each([
    ['an endpoint with a handshake of the last 180 s', {}, undefined, [ENDPOINT]],
    ['none whose handshake is older', { latestHandshakeMs: NOW - 180_000 }, undefined, []],
    ['none without a handshake', { latestHandshakeMs: undefined }, undefined, []],
    ['none without an endpoint', { endpoint: undefined }, undefined, []],
    ['none on a loopback address', { endpoint: '127.0.0.1:5' }, undefined, []],
    ['none on a multicast address', { endpoint: '[ff02::1]:5' }, undefined, []],
    ['none with a zone', { endpoint: '[fe80::1%eth0]:5' }, undefined, []],
    ['an IPv6 address in canonical form', { endpoint: '[2001:DB8:0::7]:5' }, undefined, ['[2001:db8::7]:5']],
    ['an IPv4-mapped address as the IPv4 one', { endpoint: '[::ffff:203.0.113.7]:51820' }, undefined, [ENDPOINT]],
    ['an endpoint that was set and has answered', {}, { endpoint: ENDPOINT, receivedBytes: 0 }, [ENDPOINT]],
    ['none that was set and has not answered', {}, { endpoint: ENDPOINT, receivedBytes: 92 }, []],
    ['none that is the address of a relay', { endpoint: '203.0.113.7:51821' }, undefined, []],
    ['another than was set, since a packet came', {}, { endpoint: '192.0.2.1:5', receivedBytes: 92 }, [ENDPOINT]],
  ])('is %s', (_, facts, placed, endpoints) => {
    expect(seen(facts, placed)).toEqual(endpoints)
  })
})
