import { describe, expect, test } from 'vitest'
import type { PeerStatus } from '../../../../../src/cli/agent/device/device.ts'
import { planTunnel, type HeldKey, type TunnelFacts } from '../../../../../src/cli/agent/tunnel/plan-tunnel.ts'
import { id, issued, peer } from '../../../../support/fleet/mesh-agents.ts'

const NOW = 1_000_000
const OWN = issued(9)

const keyOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
const held = (peerHalf: number, byte = peerHalf): HeldKey => ({
  epoch: { own: OWN, peer: issued(peerHalf) },
  key: keyOf(byte),
})
const inDevice = (number: number, more: Partial<PeerStatus> = {}): PeerStatus => ({
  publicKey: `key-${number}`,
  endpoint: undefined,
  latestHandshakeMs: undefined,
  receivedBytes: 0,
  sentBytes: 0,
  allowedIps: [`100.64.0.${number}/32`],
  hasPresharedKey: true,
  keepaliveSeconds: 25,
  ...more,
})
const facts = (more: Partial<TunnelFacts>): TunnelFacts => ({
  peers: [],
  keys: new Map(),
  puts: new Map(),
  device: [],
  lost: new Map(),
  isRelay: (endpoint) => endpoint === RELAY,
  keepaliveSeconds: 25,
  nowMs: NOW,
  ...more,
})
const ENDPOINT = '203.0.113.7:51820'
const RELAY = '198.51.100.1:51821'
const two = peer(2, { psk_issued_at: issued(1), endpoint: ENDPOINT })
const keysOfTwo = new Map([[id(2), held(1)]])
/** The plan that put the peer for the first time. */
const first = planTunnel(facts({ peers: [two], keys: keysOfTwo }))

describe('the plan of a tunnel', () => {
  test('puts a peer with its edge key, its own address alone and a route to it', () => {
    expect(first).toMatchObject({
      put: [
        {
          publicKey: 'key-2',
          presharedKey: keyOf(1),
          endpoint: ENDPOINT,
          allowedIps: ['100.64.0.2/32'],
          keepaliveSeconds: 25,
        },
      ],
      remove: [],
      routes: ['100.64.0.2/32'],
    })
  })

  test('puts no peer without its edge key, and gives it no route', () => {
    expect(planTunnel(facts({ peers: [two] }))).toMatchObject({ put: [], remove: [], routes: [] })
  })

  test('puts no peer whose edge key is of another epoch than its public key', () => {
    const plan = planTunnel(facts({ peers: [two], keys: new Map([[id(2), held(0)]]) }))
    expect(plan).toMatchObject({ put: [], routes: [] })
  })

  test('changes nothing that is in force', () => {
    const plan = planTunnel(facts({ peers: [two], keys: keysOfTwo, puts: first.puts, device: [inDevice(2)] }))
    expect(plan).toMatchObject({ put: [], remove: [], routes: ['100.64.0.2/32'] })
  })

  test('puts a peer again that the device has lost', () => {
    const plan = planTunnel(facts({ peers: [two], keys: keysOfTwo, puts: first.puts }))
    expect(plan.put).toMatchObject([{ publicKey: 'key-2', endpoint: ENDPOINT }])
  })

  test('removes what an earlier run has left and the mesh does not have any more', () => {
    const plan = planTunnel(facts({ peers: [two], keys: keysOfTwo, device: [inDevice(7)] }))
    expect(plan.remove).toEqual(['key-7'])
  })

  test('keeps the former key of a peer until the edge key of the new one is there, then changes both at once', () => {
    const rotated = { ...two, public_key: 'key-new', psk_issued_at: issued(5) }
    const before = { peers: [rotated], puts: first.puts, device: [inDevice(2, { endpoint: '198.51.100.1:4000' })] }
    expect(planTunnel(facts({ ...before, keys: keysOfTwo }))).toMatchObject({
      put: [],
      remove: [],
      routes: ['100.64.0.2/32'],
    })
    const after = planTunnel(facts({ ...before, keys: new Map([[id(2), held(5)]]) }))
    expect(after).toMatchObject({
      put: [{ publicKey: 'key-new', presharedKey: keyOf(5), endpoint: '198.51.100.1:4000' }],
      remove: ['key-2'],
    })
  })

  test('carries no endpoint with a zone over to a new key, which would refuse the whole change', () => {
    const rotated = { ...two, public_key: 'key-new', psk_issued_at: issued(5) }
    const device = [inDevice(2, { endpoint: '[fe80::1%eth0]:51820', latestHandshakeMs: NOW })]
    const keys = new Map([[id(2), held(5)]])
    const plan = planTunnel(facts({ peers: [rotated], keys, puts: first.puts, device }))
    expect(plan.put).toMatchObject([{ publicKey: 'key-new', endpoint: ENDPOINT }])
  })

  test('keeps a peer of an earlier run, by its address, while its edge key is being fetched', () => {
    const plan = planTunnel(facts({ peers: [two], device: [inDevice(2)] }))
    expect(plan).toMatchObject({ put: [], remove: [], routes: ['100.64.0.2/32'] })
  })

  test('removes the peer of a node that is gone, also where another node has its address and no edge key yet', () => {
    const successor = peer(3, { mesh_address: two.mesh_address })
    const plan = planTunnel(facts({ peers: [successor], puts: first.puts, device: [inDevice(2)] }))
    expect(plan).toMatchObject({ put: [], remove: ['key-2'], routes: [] })
  })

  test.each([
    ['leaves the endpoint to the device while it works', NOW - 60_000, undefined],
    ['sets the endpoint where the session of an earlier run is over', NOW - 200_000, ENDPOINT],
  ])('after a start %s', (_, latestHandshakeMs, endpoint) => {
    const device = [inDevice(2, { endpoint: '198.51.100.1:4000', latestHandshakeMs })]
    expect(planTunnel(facts({ peers: [two], keys: keysOfTwo, device })).put).toMatchObject([{ endpoint }])
  })

  test('sets an endpoint that the server gives anew, and keeps the present one where it gives none', () => {
    const device = [inDevice(2, { endpoint: ENDPOINT, latestHandshakeMs: NOW })]
    const before = { keys: keysOfTwo, puts: first.puts, device }
    const moved = planTunnel(facts({ ...before, peers: [{ ...two, endpoint: '203.0.113.8:51820' }] }))
    expect(moved.put).toMatchObject([{ endpoint: '203.0.113.8:51820' }])
    const stale = planTunnel(facts({ ...before, peers: [{ ...two, endpoint: '' }] }))
    expect(stale.put).toMatchObject([{ endpoint: undefined }])
  })

  test.each([
    ['sets another address of the same kind, where the peer has moved', '203.0.113.7:51820', '203.0.113.8:51820', true],
    ['leaves a port that the NAT of the peer picked for this node', '203.0.113.8:40001', '203.0.113.8:51820', false],
    ['leaves a local address for a public one', '192.168.1.7:51820', '203.0.113.8:51820', false],
    ['leaves a public address for a local one', '203.0.113.7:51820', '192.168.1.7:51820', false],
    ['sets another local address', '192.168.1.7:51820', '10.0.0.7:51820', true],
  ])('while a session lives %s', (_, endpoint, given, isSet) => {
    const peers = [{ ...two, endpoint: given }]
    const plan = (latestHandshakeMs: number) =>
      planTunnel(
        facts({ peers, keys: keysOfTwo, puts: first.puts, device: [inDevice(2, { endpoint, latestHandshakeMs })] }),
      )
    const live = plan(NOW - 60_000)
    expect(live.put).toMatchObject([{ endpoint: isSet ? given : undefined }])
    expect(live.moved).toEqual(isSet ? ['key-2'] : [])
    expect(live.puts.get(id(2))?.endpoint).toBe(given)
    expect(plan(NOW - 200_000)).toMatchObject({ put: [{ endpoint: given }], moved: ['key-2'] })
  })

  test('sets the endpoint of the server for a peer that is lost, and remembers that nothing has answered there', () => {
    const device = [inDevice(2, { endpoint: '198.51.100.1:4000', latestHandshakeMs: NOW, receivedBytes: 7 })]
    const before = { peers: [two], keys: keysOfTwo, puts: first.puts, device }
    expect(planTunnel(facts(before)).put).toEqual([])
    const plan = planTunnel(
      facts({ ...before, lost: new Map([[id(2), { endpoint: ENDPOINT, latestHandshakeMs: NOW }]]) }),
    )
    expect(plan).toMatchObject({ put: [{ publicKey: 'key-2', endpoint: ENDPOINT }], moved: ['key-2'] })
    expect(plan.puts.get(id(2))?.placed).toEqual({ endpoint: ENDPOINT, receivedBytes: 7 })
  })

  describe('with subnets behind the peer', () => {
    const SUBNETS = ['10.20.0.0/16', '10.30.0.0/16']
    const gateway = { ...two, subnets: SUBNETS }
    const NETWORKS = ['100.64.0.2/32', ...SUBNETS]

    test('gives it its address and the subnets, and routes to all of them', () => {
      const plan = planTunnel(facts({ peers: [gateway], keys: keysOfTwo }))
      expect(plan).toMatchObject({ put: [{ allowedIps: NETWORKS }], routes: NETWORKS })
      const device = [inDevice(2, { allowedIps: NETWORKS.toReversed() })]
      expect(planTunnel(facts({ peers: [gateway], keys: keysOfTwo, puts: plan.puts, device }))).toMatchObject({
        put: [],
        routes: NETWORKS,
      })
    })

    test('changes nothing but the networks where they change', () => {
      const device = [inDevice(2, { endpoint: ENDPOINT, latestHandshakeMs: NOW })]
      const more = planTunnel(facts({ peers: [gateway], keys: keysOfTwo, puts: first.puts, device }))
      expect(more.put).toMatchObject([{ publicKey: 'key-2', endpoint: undefined, allowedIps: NETWORKS }])
      const had = [inDevice(2, { endpoint: ENDPOINT, latestHandshakeMs: NOW, allowedIps: NETWORKS })]
      const fewer = planTunnel(facts({ peers: [two], keys: keysOfTwo, puts: more.puts, device: had }))
      expect(fewer).toMatchObject({ put: [{ allowedIps: ['100.64.0.2/32'] }], moved: [], routes: ['100.64.0.2/32'] })
    })

    test('keeps a peer of an earlier run by its address, with the routes that the device can carry', () => {
      const device = [inDevice(7, { allowedIps: ['10.20.0.0/16', '100.64.0.2/32'] })]
      expect(planTunnel(facts({ peers: [gateway], device }))).toMatchObject({
        put: [],
        remove: [],
        routes: ['100.64.0.2/32', '10.20.0.0/16'],
      })
    })

    test('keeps no peer that has the addresses of two nodes', () => {
      const device = [inDevice(7, { allowedIps: ['100.64.0.2/32', '100.64.0.3/32'] })]
      expect(planTunnel(facts({ peers: [gateway, peer(3)], device }))).toMatchObject({ remove: ['key-7'], routes: [] })
    })
  })

  test('sets the candidate that is to be tried, and the endpoint of the server once that is a new one', () => {
    const CANDIDATE = '192.168.1.9:51820'
    const device = [inDevice(2, { endpoint: ENDPOINT })]
    const before = { keys: keysOfTwo, puts: first.puts, device }
    const tried = planTunnel(
      facts({
        ...before,
        peers: [two],
        lost: new Map([[id(2), { endpoint: CANDIDATE, latestHandshakeMs: undefined }]]),
      }),
    )
    expect(tried).toMatchObject({ put: [{ endpoint: CANDIDATE }], moved: ['key-2'] })
    const at = { ...before, puts: tried.puts, device: [inDevice(2, { endpoint: CANDIDATE, latestHandshakeMs: NOW })] }
    expect(planTunnel(facts({ ...at, peers: [two] })).put).toEqual([])
    const moved = planTunnel(facts({ ...at, peers: [{ ...two, endpoint: '203.0.113.9:51820' }] }))
    expect(moved.put).toMatchObject([{ endpoint: undefined }])
  })

  test('tries no other endpoint for a peer that has answered since', () => {
    const device = [inDevice(2, { endpoint: '198.51.100.1:4000', latestHandshakeMs: NOW })]
    const lost = new Map([[id(2), { endpoint: ENDPOINT, latestHandshakeMs: undefined }]])
    const plan = planTunnel(facts({ peers: [two], keys: keysOfTwo, puts: first.puts, device, lost }))
    expect(plan).toMatchObject({ put: [], moved: [] })
  })

  test('leaves a peer at the relay that was chosen since another endpoint was to be tried', () => {
    const lost = new Map([[id(2), { endpoint: '192.168.1.9:51820', latestHandshakeMs: undefined }]])
    const before = { peers: [two], keys: keysOfTwo, puts: first.puts, lost }
    expect(planTunnel(facts({ ...before, device: [inDevice(2, { endpoint: RELAY })] }))).toMatchObject({
      put: [],
      moved: [],
    })
    expect(planTunnel(facts({ ...before, device: [inDevice(2, { endpoint: ENDPOINT })] })).moved).toEqual(['key-2'])
  })

  test('changes only the edge key where the own half of its epoch is newer', () => {
    const keys = new Map([[id(2), held(1, 77)]])
    const plan = planTunnel(facts({ peers: [two], keys, puts: first.puts, device: [inDevice(2)] }))
    expect(plan).toMatchObject({
      put: [{ publicKey: 'key-2', presharedKey: keyOf(77), endpoint: undefined }],
      remove: [],
    })
  })
})
