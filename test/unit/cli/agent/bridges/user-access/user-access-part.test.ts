import { describe, expect, it, vi } from 'vitest'
import { createUserAccessPart } from '../../../../../../src/cli/agent/bridges/user-access/user-access-part.ts'
import type { WantedUserAccess } from '../../../../../../src/cli/agent/bridges/wanted-parts.ts'
import type { Device, DevicePeer } from '../../../../../../src/cli/agent/device/device.ts'
import { newPrivateKey } from '../../../../../support/mesh/tunnel.ts'

const KEY = new TextEncoder().encode(`${Buffer.from(newPrivateKey()).toString('base64')}\n`)
const ONE = Buffer.alloc(32, 1).toString('base64')
const TWO = Buffer.alloc(32, 2).toString('base64')

const staff = (members: Partial<WantedUserAccess> = {}): WantedUserAccess => ({
  slug: 'staff',
  kind: 'wireguard',
  interface_name: 'wg-staff',
  listen_port: 51_830,
  max_peers: 5,
  auth_secret_ref: 'secret:a/b/staff-key',
  peer_subnet: '10.77.0.0/24',
  peers: [{ public_key: ONE, address: '10.77.0.2' }],
  secret: KEY,
  ...members,
})

/** A machine whose interfaces are remembered. `left`: those of an earlier process. `foreign`: one of another program. */
function machine({ left = [] as string[], refused = undefined as string | undefined, foreign = '' } = {}) {
  /** Interfaces that were ever forwarded. */
  const forwarded = new Set<string>()
  /** The interface of that name is made again. */
  const restarts = new Map<string, () => void>()
  const open = new Map<
    string,
    { peers: Map<string, DevicePeer>; address?: string | undefined; routes: readonly string[] }
  >()
  const steps: string[] = []
  const deviceOf = (name: string): Device => {
    const state = open.get(name) ?? { peers: new Map<string, DevicePeer>(), routes: [] }
    open.set(name, state)
    return {
      name,
      kind: 'kernel',
      setPrivateKey: async () => void steps.push(`key ${name}`),
      change: async ({ put, remove }) => {
        for (const key of remove) state.peers.delete(key)
        for (const peer of put) state.peers.set(peer.publicKey, peer)
      },
      status: async () => ({
        publicKey: undefined,
        listenPort: 0,
        peers: [...state.peers.values()].map((peer) => ({
          ...peer,
          latestHandshakeMs: undefined,
          receivedBytes: 0,
          sentBytes: 0,
          hasPresharedKey: false,
        })),
      }),
      wake: async () => undefined,
      move: async () => undefined,
      setAddress: async (address) => void (state.address = address),
      setRoutes: async (routes) => void (state.routes = routes),
      remove: async () => void open.delete(name),
      close: async () => void steps.push(`close ${name}`),
    }
  }
  const part = createUserAccessPart({
    openDevice: async ({ name, listenPort, onRestarted }) => {
      restarts.set(name, onRestarted)
      steps.push(`open ${name} ${listenPort}`)
      return deviceOf(name)
    },
    interfaces: { owner: 'node', mtu: 1420, isUserspace: false, logFile: '/dev/null' },
    log: { line: (line) => void steps.push(line), close: () => undefined },
    isReserved: (name) => name === 'ctl0',
    isForeign: (name) => name === foreign,
    ownInterfaces: async () => ['ctl0', ...left, ...open.keys()],
    removeLeft: async (name) => void left.splice(left.indexOf(name), 1),
    subnetFault: async (subnet) => (subnet === '10.66.0.0/24' ? 'its subnet has the server in it' : undefined),
    enforceForwards: async () => {
      for (const { interfaceName } of part.forwards()) forwarded.add(interfaceName)
      return refused
    },
  })
  return { part, open, steps, left, forwarded, restarts }
}

describe('User access on a host', () => {
  it('opens an interface with the first address, and peers with their address alone', async () => {
    const { part, open } = machine()
    expect(await part.apply('b1', [staff()])).toBeUndefined()
    expect(open.get('wg-staff')).toMatchObject({ address: '10.77.0.1', routes: ['10.77.0.0/24'] })
    expect([...(open.get('wg-staff')?.peers.values() ?? [])]).toMatchObject([
      { publicKey: ONE, allowedIps: ['10.77.0.2/32'], endpoint: undefined },
    ])
    expect(part.forwards()).toEqual([{ interfaceName: 'wg-staff', subnets: ['10.77.0.0/24'], initiators: 'outside' }])
  })

  it('changes peers while the interface stays open, and opens it again for another port', async () => {
    const { part, open, steps } = machine()
    await part.apply('b1', [staff()])
    await part.apply('b1', [staff({ peers: [{ public_key: TWO, address: '10.77.0.3' }] })])
    expect([...(open.get('wg-staff')?.peers.keys() ?? [])]).toEqual([TWO])
    await part.apply('b1', [staff({ listen_port: 51_831 })])
    expect(steps).toEqual(['open wg-staff 51830', 'close wg-staff', 'open wg-staff 51831'])
  })

  it('puts peers and forwarding again where an interface was made again', async () => {
    const { part, open, forwarded, restarts } = machine()
    await part.apply('b1', [staff()])
    open.get('wg-staff')?.peers.clear()
    forwarded.clear()
    restarts.get('wg-staff')?.()
    await vi.waitFor(() => expect([...forwarded]).toEqual(['wg-staff']))
    expect([...(open.get('wg-staff')?.peers.keys() ?? [])]).toEqual([ONE])
    expect(part.faults()).toEqual([])
  })

  it('removes what a bridge does not want any more, and all of a bridge that is gone', async () => {
    const { part, open } = machine()
    await part.apply('b1', [staff()])
    await part.apply('b2', [staff({ interface_name: 'wg-two', peer_subnet: '10.78.0.0/24', peers: [] })])
    await part.apply('b1', [])
    expect([...open.keys()]).toEqual(['wg-two'])
    await part.keepOnly(new Set(['b1']))
    expect([open.size, part.forwards()]).toEqual([0, []])
  })

  const refusals: readonly (readonly [what: string, members: Partial<WantedUserAccess>, fault: RegExp])[] = [
    ['another kind', { kind: 'overlay_a' }, /"overlay_a" is not supported/],
    ['a missing secret', { secret: undefined }, /secret could not be fetched/],
    ['a secret that is no key', { secret: new TextEncoder().encode('hunter2') }, /not a private key/],
    ['the interface of the mesh', { interface_name: 'ctl0' }, /ctl0 is needed by the agent/],
    ['a malformed interface', { interface_name: 'wg\nx' }, /no interface may have/],
    ['the name of all interfaces', { interface_name: 'all' }, /no interface may have/],
    ['the name of interfaces to come', { interface_name: 'default' }, /no interface may have/],
    ['a subnet with the server in it', { peer_subnet: '10.66.0.0/24', peers: [] }, /has the server in it/],
    ['a malformed subnet', { peer_subnet: '10.77.0.1/24', peers: [] }, /subnet for peers is malformed/],
    ['an address of the hosts', { peers: [{ public_key: ONE, address: '10.77.0.1' }] }, /outside of the subnet/],
    ['a malformed key', { peers: [{ public_key: 'x', address: '10.77.0.2' }] }, /malformed key/],
    ['too many peers', { max_peers: 0 }, /1 peers and admits 0/],
    [
      'an address twice',
      {
        peers: [
          { public_key: ONE, address: '10.77.0.2' },
          { public_key: TWO, address: '10.77.0.2' },
        ],
      },
      /share a key or an address/,
    ],
  ]
  it.each(refusals)('refuses %s, and what ran before goes on', async (_, members, fault) => {
    const { part, open } = machine()
    await part.apply('b1', [staff()])
    const found = await part.apply('b1', [staff(), staff({ slug: 'other', interface_name: 'wg-other', ...members })])
    expect(found).toMatch(fault)
    expect(found).not.toContain('hunter2')
    expect([...open.keys()]).toEqual(['wg-staff'])
  })

  it('refuses an interface, and a subnet, of another bridge', async () => {
    const { part } = machine()
    await part.apply('b1', [staff()])
    expect(await part.apply('b2', [staff()])).toMatch(/wg-staff is that of another bridge/)
    expect(await part.apply('b2', [staff({ interface_name: 'wg-two' })])).toMatch(/overlaps 10\.77\.0\.0\/24/)
  })

  it('forwards nothing of an interface that another program has', async () => {
    const { part, open, forwarded } = machine({ foreign: 'eth0' })
    const fault = await part.apply('b1', [staff({ interface_name: 'eth0' })])
    expect(fault).toBe('user access staff: there is an interface eth0 that does not belong to this agent')
    expect([open.size, [...forwarded]]).toEqual([0, []])
    await part.apply('b1', [staff()])
    expect([...forwarded]).toEqual(['wg-staff'])
  })

  it('opens nothing where the rules are not in force', async () => {
    const { part, open } = machine({ refused: 'nft is not installed' })
    expect(await part.apply('b1', [staff()])).toMatch(/nft is not installed/)
    expect([open.size, part.forwards()]).toEqual([0, []])
  })

  it('keeps the interfaces of an earlier process until each hosted bridge was applied, then removes the others', async () => {
    const { part, left } = machine({ left: ['wg-staff', 'wg-gone'] })
    await part.keepOnly(new Set(['b1', 'b2']))
    await part.apply('b2', [])
    expect(left).toEqual(['wg-staff', 'wg-gone'])
    await part.apply('b1', [staff({ secret: undefined })])
    expect(left).toEqual(['wg-staff'])
  })

  it('leaves interfaces open when the agent ends, and none when it is taken down', async () => {
    const kept = machine()
    await kept.part.apply('b1', [staff()])
    await kept.part.close('keep')
    expect([...kept.open.keys()]).toEqual(['wg-staff'])
    const removed = machine({ left: ['wg-old'] })
    await removed.part.apply('b1', [staff()])
    await removed.part.close('remove')
    expect([removed.open.size, removed.left]).toEqual([0, []])
  })
})
