import { createRelayAddresses } from '../../../../../src/cli/agent/endpoints/relay-addresses.ts'
import { describe, expect, test } from 'vitest'
import type { DeviceChange, PeerStatus } from '../../../../../src/cli/agent/device/device.ts'
import type { RealMember } from '../../../../../src/cli/agent/real-member.ts'
import { acceptMeshNetwork } from '../../../../../src/cli/agent/server-answers/mesh-network.ts'
import { createMeshApplier } from '../../../../../src/cli/agent/tunnel/mesh-applier.ts'
import { generateMeshKey } from '../../../../../src/client/agent/keys/mesh-key.ts'
import type { PeerFacts } from '../../../../../src/client/agent/peers/peer-book.ts'
import { id, issued, peer } from '../../../../support/fleet/mesh-agents.ts'
import { had } from '../../../../support/mesh/device-records.ts'

const KEY = generateMeshKey().publicKey
const NO_ADDRESSES = { gateways: [], uplinks: [], others: [], resolvers: [], servers: [], connected: [] }
const two = peer(2, { public_key: KEY, psk_issued_at: issued(1), name: 'web-2' })
const keys = new Map([[id(2), { epoch: { own: issued(9), peer: issued(1) }, key: new Uint8Array(32) }]])
const KEPT = had({ publicKey: KEY, allowedIps: ['100.64.0.2/32'] })

/** A machine that does as it is asked, and writes down what it does. */
function machine({ device = [], isPulled = true }: { device?: readonly PeerStatus[]; isPulled?: boolean } = {}) {
  const done: string[] = []
  const here = { device, mayCarryPackets: true, routeFault: undefined as Error | undefined }
  /** Replaced by a test that has something happen while the rules are looked at. */
  const during = { firewall: (): void => undefined }
  const ending = new AbortController()
  const peers: readonly PeerFacts[] = [two]
  const view = { list: () => peers, find: () => two }
  const member = {
    identity: { node_id: id(1), name: 'web-1', private_key: generateMeshKey().privateKey },
    keys,
    view: isPulled ? view : undefined,
  } as Partial<RealMember> as RealMember // The applier needs no more of it.
  const applier = createMeshApplier({
    member,
    device: {
      name: 'ctl0',
      async change({ put, remove }: DeviceChange) {
        done.push(`put ${put.length}, remove ${remove.length}`)
        const kept = here.device.filter(({ publicKey }) => !remove.includes(publicKey))
        here.device = [...kept, ...put.map(({ publicKey, allowedIps }) => had({ publicKey, allowedIps }))]
      },
      status: async () => ({ publicKey: undefined, listenPort: 51_820, peers: here.device }),
      wake: async () => undefined,
      async setRoutes(cidrs) {
        done.push(`routes ${cidrs.length}`)
        if (here.routeFault !== undefined) throw here.routeFault
      },
    },
    firewall: {
      async apply() {
        during.firewall()
        done.push('policies')
      },
      status: () => ({ fault: undefined, mayCarryPackets: here.mayCarryPackets }),
    },
    names: { publish: async (names) => void done.push(`names ${names.length}`) },
    log: { line: () => undefined, close: () => undefined },
    now: () => 1_000_000,
    network: () => acceptMeshNetwork({ address: '100.64.0.1', cidr: '100.64.0.0/16' }, NO_ADDRESSES),
    taken: () => new Set(),
    machine: () => ({ gateways: [], uplinks: [], resolvers: [], servers: [], connected: [] }),
    keepaliveSeconds: () => 25,
    relays: createRelayAddresses(),
    forwards: () => [],
    knownBefore: { peers, policies: [] },
    remember: async () => void done.push('remember'),
    until: ending.signal,
  })
  const round = async (): Promise<readonly string[]> => {
    done.length = 0
    await applier.apply()
    return [...done]
  }
  return { round, here, during, ending, done }
}

describe('a round of the agent', () => {
  test('enforces the policies before a peer is put, and writes down only what is new', async () => {
    const { round } = machine()
    expect(await round()).toEqual(['policies', 'put 1, remove 0', 'routes 1', 'names 2', 'remember'])
    expect(await round()).toEqual(['routes 1', 'policies', 'names 2'])
  })

  test('takes the peers off the device where policies that were enforced are no longer, and puts them once they are', async () => {
    const { round, here, during } = machine()
    await round()
    during.firewall = () => {
      here.mayCarryPackets = false
    }
    expect(await round()).toEqual(['routes 1', 'policies', 'put 0, remove 1', 'routes 0', 'names 2'])
    during.firewall = () => {
      here.mayCarryPackets = true
    }
    expect(await round()).toEqual(['routes 0', 'policies', 'put 1, remove 0', 'routes 1', 'names 2'])
  })

  test('leaves the peers of an earlier run before the first pull', async () => {
    const { round, here } = machine({ device: [KEPT], isPulled: false })
    expect(await round()).toEqual(['policies', 'names 2'])
    expect(here.device).toEqual([KEPT])
  })

  test('takes the peers of an earlier run off the device where the policies are not enforced', async () => {
    const { round, here } = machine({ device: [KEPT], isPulled: false })
    here.mayCarryPackets = false
    await round()
    expect(here.device).toEqual([])
  })

  test('publishes names although a route is refused, and fails at its end', async () => {
    const { round, here, done } = machine()
    here.routeFault = new Error('File exists')
    await expect(round()).rejects.toThrow('File exists')
    expect(done).toEqual(['policies', 'put 1, remove 0', 'routes 1', 'names 2', 'remember'])
  })

  test('writes nothing once the agent ends', async () => {
    const { round, during, ending } = machine()
    during.firewall = () => ending.abort()
    expect(await round()).not.toContain('names 2')
  })
})
