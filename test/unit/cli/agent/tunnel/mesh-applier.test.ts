import { createRelayAddresses } from '../../../../../src/cli/agent/endpoints/relay-addresses.ts'
import { generateKeyPairSync } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { createFirewall, type Firewall } from '../../../../../src/cli/agent/firewall/firewall.ts'
import type { MeshName } from '../../../../../src/cli/agent/names/mesh-names.ts'
import { createMeshApplier, type MeshApplier } from '../../../../../src/cli/agent/tunnel/mesh-applier.ts'
import type { CompiledEntry } from '../../../../../src/shared/policies/rule-types.ts'
import { createFakeKernel, type FakeKernel } from '../../../../support/firewall/fake-kernel.ts'
import { id, peer } from '../../../../support/fleet/mesh-agents.ts'

const ISOLATE: CompiledEntry = { action: 'isolate', direction: 'ingress' }
const policyOf = (entries: readonly CompiledEntry[]) => ({
  policyId: 'p',
  revisionId: 'r',
  fingerprint: 'f',
  unknown: 0,
  entries,
})
const PRIVATE_KEY = generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64')

let kernel: FakeKernel
let firewall: Firewall
let applier: MeshApplier
let published: (readonly MeshName[])[]
let entries: readonly CompiledEntry[]
let peers: readonly object[]
let lines: string[]

/** An agent that knows its policies from an earlier run, and whose server is away. */
beforeEach(() => {
  entries = [ISOLATE]
  peers = []
  lines = []
  published = []
  kernel = createFakeKernel()
  firewall = createFirewall({ run: (...call) => kernel.run(...call), log: () => undefined })
  applier = createMeshApplier({
    member: { view: undefined, self: undefined, identity: { name: 'web-1', private_key: PRIVATE_KEY } },
    device: {
      name: 'ctl0',
      status: async () => ({ publicKey: undefined, listenPort: 51_820, peers: [] }),
      setRoutes: async () => undefined,
    },
    firewall,
    log: { line: (line: string) => void lines.push(line) },
    names: { publish: async (names: readonly MeshName[]) => void published.push(names) },
    network: () => ({ cidr: undefined, ownAddress: '100.64.0.1' }),
    taken: () => new Set(),
    machine: () => ({ gateways: [], uplinks: [], resolvers: [], servers: [], connected: [] }),
    now: () => 1_000_000,
    keepaliveSeconds: () => 25,
    forwards: () => [],
    relays: createRelayAddresses(),
    until: new AbortController().signal,
    get knownBefore() {
      return { peers, policies: [policyOf(entries)] }
    },
  } as never)
})

const isolates = () => kernel.sent.filter((text) => text.includes('drop_ingress')).length

describe('a look at the policies', () => {
  test('does nothing before they were applied', async () => {
    expect(await applier.enforce()).toBe(false)
    expect(kernel.sent).toEqual([])
  })

  test('changes nothing while they are in force', async () => {
    await applier.apply()
    expect(await applier.enforce()).toBe(false)
    expect(isolates()).toBe(1)
  })

  test('brings them into force again after another program removed them', async () => {
    await applier.apply()
    await kernel.run('nft', ['-j', '-f', '-'], { stdin: '{"nftables":[{"delete":{"table":{}}}]}' })
    expect(await applier.enforce()).toBe(false)
    expect(isolates()).toBe(2)
    expect(firewall.status()).toEqual({ fault: undefined, mayCarryPackets: true })
  })

  test('asks for a change of the device once a refusal is over', async () => {
    kernel.missing.add('nft')
    await applier.apply()
    expect(firewall.status().mayCarryPackets).toBe(false)
    expect(await applier.enforce()).toBe(false)
    kernel.missing.delete('nft')
    expect(await applier.enforce()).toBe(true)
    expect(firewall.status()).toEqual({ fault: undefined, mayCarryPackets: true })
  })

  test('asks for a change of the device where they cannot be brought into force again', async () => {
    await applier.apply()
    await kernel.run('nft', ['-j', '-f', '-'], { stdin: '{"nftables":[{"delete":{"table":{}}}]}' })
    const { run } = kernel
    Object.assign(kernel, {
      run: (...[program, args, options]: Parameters<typeof run>) =>
        args.includes('-f') ? Promise.reject(new Error('ENOSPC')) : run(program, args, options),
    })
    expect(await applier.enforce()).toBe(true)
    expect(firewall.status().mayCarryPackets).toBe(false)
  })

  test('during a change does not bring back what was before', async () => {
    await applier.apply()
    entries = [ISOLATE, { action: 'isolate', direction: 'egress' }]
    await Promise.all([applier.enforce(), applier.apply(), applier.enforce()])
    expect(kernel.sent.at(-1)).toContain('drop_egress')
    expect(firewall.status()).toEqual({ fault: undefined, mayCarryPackets: true })
  })
})

test('names are given again as they were given last, and not before', async () => {
  await applier.republish()
  expect(published).toEqual([])
  await applier.apply()
  await applier.republish()
  expect(published).toEqual([[{ name: 'web-1', address: '100.64.0.1' }], [{ name: 'web-1', address: '100.64.0.1' }]])
})

test('Of peers that are refused the first twenty are named in the log, and how many there are besides', async () => {
  peers = Array.from({ length: 1_000 }, (_, number) => peer(number, { mesh_address: 'nowhere' }))
  await applier.apply()
  await applier.apply()
  expect(lines).toHaveLength(21)
  expect(lines[0]).toBe(`peer ${id(0)} is refused: its address is not an IPv4 address`)
  expect(lines[20]).toBe('980 more peers or subnets of peers are refused')
})
