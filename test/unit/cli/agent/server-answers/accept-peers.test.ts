import { describe, expect, test } from 'vitest'
import { acceptPeers, PEERS_MAX, type PeerTerms } from '../../../../../src/cli/agent/server-answers/accept-peers.ts'
import { acceptMeshNetwork } from '../../../../../src/cli/agent/server-answers/mesh-network.ts'
import { id, peer } from '../../../../support/fleet/mesh-agents.ts'

const NO_ADDRESSES = { gateways: [], uplinks: [], others: [], resolvers: [], servers: [], connected: [] }
const terms: PeerTerms = {
  ...acceptMeshNetwork({ address: '100.64.0.1', cidr: '100.64.0.0/16' }, NO_ADDRESSES),
  ownPublicKey: keyOf(1),
  taken: new Set(['100.64.0.53', '10.8.0.7']),
  machine: { ...NO_ADDRESSES, uplinks: ['10.8.0.7'] },
  hosted: [],
}

function keyOf(number: number): string {
  const bytes = Buffer.alloc(32)
  bytes.writeUInt32BE(number)
  return bytes.toString('base64')
}

const good = (number: number, more: Partial<Parameters<typeof peer>[1]> = {}) =>
  peer(number, { public_key: keyOf(number), ...more })

describe('the peers that an agent takes', () => {
  test('are those inside of the mesh with an address and a key of their own', () => {
    const { peers, refused } = acceptPeers([good(2), good(3)], terms)
    expect(peers.map(({ node_id: nodeId }) => nodeId)).toEqual([id(2), id(3)])
    expect(refused.size).toBe(0)
  })

  test.each([
    ['an address outside of the mesh', { mesh_address: '10.0.0.1' }, 'outside of the mesh'],
    ['an IPv6 address', { mesh_address: 'fd00::1' }, 'not an IPv4 address'],
    ['an address in another spelling', { mesh_address: '100.64.0.02' }, 'not an IPv4 address'],
    ['a network', { mesh_address: '100.64.0.0/16' }, 'not an IPv4 address'],
    ["the node's own address", { mesh_address: '100.64.0.1' }, "this node's own"],
    ["the node's own public key", { public_key: keyOf(1) }, "this node's own"],
    ['an address that the machine uses', { mesh_address: '100.64.0.53' }, 'this machine uses'],
    ['a public key that is none', { public_key: 'key\npublic_key=00' }, 'not 32 bytes'],
  ])('are not those with %s', (_, more, why) => {
    const { peers, refused } = acceptPeers([good(2, more), good(3)], terms)
    expect(peers.map(({ node_id: nodeId }) => nodeId)).toEqual([id(3)])
    expect(refused.get(id(2))).toContain(why)
  })

  test.each([
    ['address', { mesh_address: '100.64.0.9' }],
    ['public key', { public_key: keyOf(9) }],
  ])('are none of two with one %s', (what, more) => {
    const { peers, refused } = acceptPeers([good(2, more), good(3, more), good(4)], terms)
    expect(peers.map(({ node_id: nodeId }) => nodeId)).toEqual([id(4)])
    expect([...refused.values()]).toEqual([
      expect.stringContaining(`another peer has its ${what}`),
      expect.stringContaining(`another peer has its ${what}`),
    ])
  })

  test('lose candidates that the tunnel cannot use and subnets of this machine, and are taken all the same', () => {
    const candidates = ['10.0.0.9:51820', '100.64.0.9:51820', 'vpn.example.org:1', '[2001:db8::9]:51820']
    const { peers, refused, refusedSubnets } = acceptPeers(
      [good(2, { candidates, subnets: ['10.8.0.0/24', '10.9.0.0/24'] })],
      terms,
    )
    expect(peers).toMatchObject([{ candidates: ['10.0.0.9:51820', '[2001:db8::9]:51820'], subnets: ['10.9.0.0/24'] }])
    expect(refused.size).toBe(0)
    expect([...refusedSubnets]).toEqual([
      [`${id(2)} 10.8.0.0/24`, 'the subnet 10.8.0.0/24 has an address of this machine in it: 10.8.0.7'],
    ])
  })

  test('lose each address inside of the subnets behind them, which would lead into the tunnel itself', () => {
    const inside = { endpoint: '10.9.0.1:51820', candidates: ['10.9.0.2:51820'], fallback_endpoint: '10.9.0.3:51821' }
    const { peers } = acceptPeers([good(2, { ...inside, subnets: ['10.9.0.0/24'] }), good(3, inside)], terms)
    expect(peers).toMatchObject([{ endpoint: '', candidates: [], subnets: ['10.9.0.0/24'] }, inside])
    expect(peers[0]?.fallback_endpoint).toBeUndefined()
  })

  test.each([
    'vpn.example.org:51820',
    '203.0.113.7',
    '203.0.113.7:99999',
    '[203.0.113.7]:51820',
    '100.64.0.9:51820',
    '127.0.0.1:51820',
    '[::1]:51820',
    '0.0.0.0:51820',
    '255.255.255.255:51820',
    '224.0.0.1:51820',
    '[::ffff:100.64.0.9]:51820',
    '1.2.3.4:1\nset=1',
  ])('have no endpoint where the server gives %j', (endpoint) => {
    expect(acceptPeers([good(2, { endpoint })], terms).peers[0]?.endpoint).toBe('')
  })

  test.each(['203.0.113.7:51820', '[2001:db8::1]:51820'])('keep the endpoint %s', (endpoint) => {
    expect(acceptPeers([good(2, { endpoint })], terms).peers[0]?.endpoint).toBe(endpoint)
  })

  test('are bounded, however many the server gives', () => {
    const many = Array.from({ length: 2 * PEERS_MAX }, (_, index) =>
      peer(2, {
        node_id: `0197a000-0000-7000-8000-${String(index).padStart(12, '0')}`,
        mesh_address: `100.64.${2 + (index >> 8)}.${index & 255}`,
        public_key: keyOf(index + 10),
      }),
    )
    const { peers, refused } = acceptPeers(many, terms)
    expect(peers).toHaveLength(PEERS_MAX)
    expect(refused.size).toBe(PEERS_MAX)
  })
})

describe('the mesh network that an agent takes', () => {
  const machine = {
    gateways: ['100.64.0.254'],
    uplinks: ['100.65.0.2'],
    others: ['100.65.0.2', '100.66.0.7'],
    resolvers: ['100.67.0.53'],
    connected: [],
    servers: ['100.68.0.9'],
  }

  test.each([
    ['100.64.0.0/24', '100.64.0.1', 'the gateway of a default route in it: 100.64.0.254'],
    ['100.65.0.0/24', '100.65.0.1', 'an address of this machine in it: 100.65.0.2'],
    ['100.67.0.0/24', '100.67.0.1', 'a name server of this machine in it: 100.67.0.53'],
    ['100.68.0.0/24', '100.68.0.1', 'the server in it: 100.68.0.9'],
    ['0.0.0.0/0', '100.64.0.1', 'larger than a /8'],
    ['fd00::/64', '100.64.0.1', 'not an IPv4 network'],
    ['100.64.0.1/24', '100.64.0.1', 'not an IPv4 network'],
    ['100.70.0.0/24', '100.71.0.1', 'outside of the mesh'],
    ['100.66.0.0/24', '100.66.0.7', 'another interface of this machine has'],
  ])('is not %s with %s', (cidr, address, why) => {
    expect(() => acceptMeshNetwork({ address, cidr }, machine)).toThrow(
      expect.objectContaining({ code: 'mesh_refused', message: expect.stringContaining(why) as string }),
    )
  })

  test('may contain addresses of another tunnel, since only single addresses are routed', () => {
    expect(acceptMeshNetwork({ address: '100.66.0.1', cidr: '100.66.0.0/24' }, machine).ownAddress).toBe('100.66.0.1')
  })
})
