import { afterEach, describe, expect, test } from 'vitest'
import { createOwnEndpoint } from '../../../../../src/cli/agent/endpoints/own-endpoint.ts'
import type { LocalAddress } from '../../../../../src/cli/agent/system/local-address.ts'
import { agentWorld, refusal, type AgentWorld } from '../../../../support/fleet/mesh-agents.ts'
import { had, KEYS } from '../../../../support/mesh/device-records.ts'

const worlds: AgentWorld[] = []
afterEach(() => worlds.splice(0).forEach((world) => world.end()))

const HOME: LocalAddress = { address: '192.168.1.7', family: 4 }
const CAFE: LocalAddress = { address: '2001:db8::7', family: 6 }
const TAKEN = { accepted_at: '2026-01-01T00:00:00.000Z', stale_after: '2026-01-01T00:02:00.000Z' }

function machine(answer: () => unknown = () => TAKEN) {
  const world = agentWorld({ answers: { PutNodeEndpoint: answer } })
  worlds.push(world)
  const [member] = world.nodes
  if (member === undefined) throw new Error('no node')
  const here = {
    local: HOME as LocalAddress | undefined,
    addresses: 'eth0 192.168.1.7/24',
    candidates: [] as readonly string[],
    isAway: false,
    looks: 0,
  }
  const done: string[] = []
  const own = createOwnEndpoint({
    agent: world.deps,
    member,
    device: {
      name: 'ctl0',
      async status() {
        if (here.isAway) throw new Error('wireguard-go does not run.')
        return { publicKey: undefined, listenPort: 51_820, peers: [had({ publicKey: KEYS[0] })] }
      },
      wake: async (keys) => void done.push(`woke ${keys.length}`),
    },
    log: { line: (text) => void done.push(text), close: () => undefined },
    async localAddress() {
      here.looks += 1
      return here.local
    },
    addresses: () => here.addresses,
    candidates: (port) => here.candidates.map((host) => `${host}:${port}`),
    onMoved: ({ address }, isFirst) => void done.push(`${isFirst ? 'first' : 'moved'} ${address}`),
  })
  const reported = () =>
    world.calls.map(({ input }) => {
      const { endpoint, nat_type: natType } = input['body'] as { readonly endpoint: string; readonly nat_type: string }
      return `${endpoint} ${natType}`
    })
  return { ...world, own, here, done, reported }
}

describe('the endpoint of this machine', () => {
  test('is its local address with the port of the tunnel, as a guess', async () => {
    const { own, reported, done } = machine()
    await own.look()
    expect(reported()).toEqual(['192.168.1.7:51820 unknown'])
    expect(done).toEqual(['woke 1', 'endpoint: 192.168.1.7:51820', 'first 192.168.1.7'])
  })

  test('is reported with further addresses, and at once where these change', async () => {
    const { own, here, calls, done } = machine()
    const sent = () => calls.map(({ input }) => (input['body'] as { readonly candidates?: unknown }).candidates)
    here.candidates = ['192.168.1.7', '10.0.0.7']
    await own.look()
    here.candidates = ['192.168.1.7']
    here.addresses = 'eth0 192.168.1.7/24, eth1 10.0.0.8/8'
    await own.look()
    await own.look()
    expect(sent()).toEqual([['192.168.1.7:51820', '10.0.0.7:51820'], ['192.168.1.7:51820']])
    expect(done.filter((line) => line.startsWith('woke'))).toEqual(['woke 1'])
  })

  test('is looked for when an address of the machine changes, and every 15 s', async () => {
    const { own, here, clock } = machine()
    await own.look()
    await clock.advance(14_000)
    await own.look()
    expect(here.looks).toBe(1)
    here.addresses = ''
    await own.look()
    expect(here.looks).toBe(2)
    await clock.advance(15_000)
    await own.look()
    expect(here.looks).toBe(3)
  })

  test('is reported at once when it is another one, and peers get a packet before', async () => {
    const { own, here, reported, done } = machine()
    await own.look()
    Object.assign(here, { local: CAFE, addresses: 'wlan0 2001:db8::7/64' })
    await own.look()
    expect(reported().at(-1)).toBe('[2001:db8::7]:51820 unknown')
    expect(done.slice(3)).toEqual(['woke 1', 'endpoint: [2001:db8::7]:51820', 'moved 2001:db8::7'])
  })

  test('is reported again at half of its lifetime, which the server has given', async () => {
    const { own, clock, reported } = machine()
    await own.look()
    expect(own.lifetimeMs()).toBe(120_000)
    await clock.advance(59_000)
    await own.look()
    expect(reported().length).toBe(1)
    await clock.advance(1_000)
    await own.look()
    expect(reported().length).toBe(2)
  })

  test('stays while the machine has no address at all', async () => {
    const { own, here, clock, reported } = machine()
    await own.look()
    Object.assign(here, { local: undefined, addresses: '' })
    await own.look()
    Object.assign(here, { local: HOME, addresses: 'eth0 192.168.1.7/24' })
    await own.look()
    await clock.advance(60_000)
    await own.look()
    expect(reported()).toEqual(['192.168.1.7:51820 unknown', '192.168.1.7:51820 unknown'])
  })

  test('is reported again 15 s after the server has not taken it', async () => {
    let isRefused = true
    const { own, clock, reported } = machine(() => {
      if (isRefused) throw refusal(403, 'forbidden')
      return TAKEN
    })
    await own.look()
    isRefused = false
    await own.look()
    expect(reported().length).toBe(1)
    await clock.advance(15_000)
    await own.look()
    expect(reported().length).toBe(2)
  })

  test('is taken at the next look where the device does not answer', async () => {
    const { own, here, done } = machine()
    here.isAway = true
    await expect(own.look()).rejects.toThrow('does not run')
    here.isAway = false
    await own.look()
    expect(done.at(-1)).toBe('first 192.168.1.7')
  })
})
