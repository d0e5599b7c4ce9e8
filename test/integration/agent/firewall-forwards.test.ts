import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createFirewall, type Firewall } from '../../../src/cli/agent/firewall/firewall.ts'
import type { FirewallView, Forward } from '../../../src/cli/agent/firewall/firewall-view.ts'
import type { RunProgram } from '../../../src/cli/agent/system/run-program.ts'
import type { CompiledEntry } from '../../../src/shared/policies/rule-types.ts'
import { createLab, type Box, type Lab } from '../../support/mesh/lab.ts'
import { requirement } from '../../support/run/requirements.mjs'

const [MESH, SITE, OTHER] = ['100.64.0.2', '10.20.0.2', '10.30.0.2']
const POLICY = '0197a000-0000-7000-8000-00000000a001'
const SOON = { timeout: 60_000, interval: 50 }

/** The router `host` has three links: to the mesh, to a site and to a network that no bridge leads to. */
describe.skipIf(requirement('mesh-lab') === undefined)('what a host forwards', () => {
  let lab: Lab
  const boxes = new Map<string, Box>()
  let firewall: Firewall
  let lines: string[]
  const box = (name: string): Box => {
    const found = boxes.get(name)
    if (found === undefined) throw new Error(`There is no box ${name}.`)
    return found
  }
  const inHost: RunProgram = (program, args, options) => lab.exec(box('host'), [program, ...args], options)

  beforeAll(async () => {
    lab = await createLab({ prefix: 'ctlfwd' })
    for (const name of ['host', 'member', 'site', 'other']) boxes.set(name, await lab.box(name))
    const links = [
      ['member', 'ctl0', '100.64.0', MESH],
      ['site', 'hq', '10.20.0', SITE],
      ['other', 'lan', '10.30.0', OTHER],
    ] as const
    for (const [name, link, network, address] of links) {
      await box('host').namespace.ip([
        `link add ${link} type veth peer name port netns ${box(name).namespace.name}`,
        `address add ${network}.1/24 dev ${link}`,
        `link set ${link} up`,
      ])
      const routes = ['100.64.0.0/24', '10.20.0.0/24', '10.30.0.0/24'].filter((one) => !one.startsWith(network))
      await box(name).namespace.ip([
        `address add ${address}/24 dev port`,
        'link set port up',
        ...routes.map((one) => `route add ${one} via ${network}.1`),
      ])
    }
    // All of it could pass: what does not is kept by the rules.
    await inHost('sysctl', ['-qw', 'net.ipv4.ip_forward=1'])
  }, 180_000)
  afterAll(() => lab.close(), 60_000)
  beforeEach(async () => {
    lines = []
    firewall = createFirewall({ run: inHost, log: (line) => void lines.push(line) })
    await inHost('conntrack', ['-F'])
  })
  afterEach(() => firewall.remove())

  const forward: Forward = { interfaceName: 'hq', subnets: ['10.20.0.0/24'], initiators: 'both' }
  const view = (forwards: readonly Forward[], entries: readonly CompiledEntry[] = []): FirewallView => ({
    interfaceName: 'ctl0',
    forwards,
    policies: [{ policyId: POLICY, revisionId: 'r', fingerprint: 'f', unknown: 0, entries }],
    peers: [{ nodeId: 'member', address: MESH, groups: [1] }],
  })
  const pings = async (from: string, to: string): Promise<boolean> =>
    (await lab.exec(box(from), ['ping', '-c', '1', '-W', '0.4', to])).exitCode === 0
  const reaches = (from: string, to: string): Promise<void> =>
    vi.waitFor(async () => expect(await pings(from, to)).toBe(true), SOON)
  const ruleset = async (): Promise<string> => (await inHost('nft', ['list', 'ruleset'])).stdout

  test('passes between the mesh and a bridge, and nowhere else', async () => {
    await firewall.apply(view([forward]))
    expect(lines).toEqual([])
    await reaches('member', SITE)
    await reaches('site', MESH)
    // Others' packets are not touched.
    await reaches('other', box('host').address)
    for (const [from, to] of [
      ['member', OTHER],
      ['site', OTHER],
      ['other', SITE],
    ] as const)
      expect([from, to, await pings(from, to)]).toEqual([from, to, false])
  })

  test.each([
    ['mesh', true, false],
    ['outside', false, true],
  ] as const)('may be begun by the side that is named: %s', async (initiators, fromMesh, fromSite) => {
    await firewall.apply(view([{ ...forward, initiators }]))
    const directions = [
      ['member', SITE, fromMesh],
      ['host', SITE, fromMesh],
      ['site', MESH, fromSite],
      ['site', '10.20.0.1', fromSite],
    ] as const
    for (const [from, to, isOpen] of directions) if (isOpen) await reaches(from, to)
    for (const [from, to, isOpen] of directions)
      if (!isOpen) expect([from, to, await pings(from, to)]).toEqual([from, to, false])
  })

  test('comes from an address that is behind the interface', async () => {
    await firewall.apply(view([{ ...forward, subnets: ['10.20.0.128/25'] }]))
    expect(await pings('site', MESH)).toBe(false)
    await firewall.apply(view([forward]))
    await reaches('site', MESH)
  })

  test('is judged by the policies of the host', async () => {
    const isolate: CompiledEntry = { action: 'isolate', direction: 'ingress' }
    const nothing = { cidrs: [], except_cidrs: [], except_groups: [], ports: [] }
    const accept: CompiledEntry = { action: 'accept', direction: 'ingress', protocol: 'icmp', groups: [1], ...nothing }
    await firewall.apply(view([forward], [isolate]))
    expect(await pings('member', SITE)).toBe(false)
    expect((await firewall.counters())[0]?.packets).toBeGreaterThan(0)
    await firewall.apply(view([forward], [isolate, accept]))
    await reaches('member', SITE)
    expect((await firewall.counters())[0]).toMatchObject({ action: 'accept' })
  })

  test('counts as the peer that it is behind, also where that changes', async () => {
    const isolate: CompiledEntry = { action: 'isolate', direction: 'ingress' }
    const nothing = { cidrs: [], except_cidrs: [], except_groups: [], ports: [] }
    const accept: CompiledEntry = { action: 'accept', direction: 'ingress', protocol: 'icmp', groups: [1], ...nothing }
    // Here the site is behind a member of the mesh: its packets come through the interface of the mesh.
    const member = (subnets: readonly string[]): FirewallView => ({
      ...view([], [isolate, accept]),
      interfaceName: 'hq',
      peers: [{ nodeId: 'member', address: MESH, groups: [1], subnets }],
    })
    await firewall.apply(member(['10.20.0.0/24', '10.20.0.0/16', '10.40.0.0/16']))
    expect(lines).toEqual([])
    await reaches('site', '10.20.0.1')
    await firewall.apply(member(['10.20.0.128/25']))
    expect(await pings('site', '10.20.0.1')).toBe(false)
    await firewall.apply(member(['10.20.0.0/25']))
    await reaches('site', '10.20.0.1')
    await firewall.apply(member([]))
    expect(await pings('site', '10.20.0.1')).toBe(false)
    expect(lines).toEqual([])
  })

  test('leaves no table when nothing is forwarded and no policy isolates', async () => {
    await firewall.apply(view([forward]))
    expect(await ruleset()).toContain('chain across')
    await firewall.apply(view([]))
    expect(await ruleset()).toBe('')
  })
})
