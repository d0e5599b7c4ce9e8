import { beforeEach, describe, expect, test } from 'vitest'
import { createFirewall, type Firewall } from '../../../../../src/cli/agent/firewall/firewall.ts'
import type { FirewallView } from '../../../../../src/cli/agent/firewall/firewall-view.ts'
import type { AcceptEntry, CompiledEntry } from '../../../../../src/shared/policies/rule-types.ts'
import { createFakeKernel, type FakeKernel } from '../../../../support/firewall/fake-kernel.ts'

const POLICY = '0197a000-0000-7000-8000-00000000a001'
const isolateIngress: CompiledEntry = { action: 'isolate', direction: 'ingress' }
const isolateEgress: CompiledEntry = { action: 'isolate', direction: 'egress' }
const acceptAll: AcceptEntry = {
  action: 'accept',
  direction: 'ingress',
  protocol: 'any',
  cidrs: [],
  except_cidrs: [],
  except_groups: [],
  groups: [0],
  ports: [],
}

function view(entries: readonly CompiledEntry[], addresses: readonly string[] = ['100.64.0.2']): FirewallView {
  return {
    interfaceName: 'ctl0',
    forwards: [],
    policies: [{ policyId: POLICY, revisionId: 'r', fingerprint: 'f', unknown: 0, entries }],
    peers: addresses.map((address) => ({ nodeId: address, address, groups: [] })),
  }
}

let kernel: FakeKernel
let lines: string[]
let firewall: Firewall

beforeEach(() => {
  kernel = createFakeKernel()
  lines = []
  firewall = createFirewall({ run: (...call) => kernel.run(...call), log: (line) => void lines.push(line) })
})

describe('what the tunnel may carry', () => {
  test('nothing before the first view', () => {
    expect(firewall.status()).toEqual({ fault: undefined, mayCarryPackets: false })
  })

  test('everything without nft where no policy isolates', async () => {
    kernel.missing.add('nft')
    await firewall.apply(view([acceptAll]))
    expect(firewall.status()).toEqual({ fault: undefined, mayCarryPackets: true })
  })

  test('nothing without nft where a policy isolates', async () => {
    kernel.missing.add('nft')
    await firewall.apply(view([isolateIngress]))
    expect(firewall.status()).toEqual({
      fault: 'nft is not installed. Install it: apt install nftables',
      mayCarryPackets: false,
    })
    expect(lines).toEqual([
      'firewall: policies are not enforced, no packet may pass the mesh meanwhile: nft is not installed. Install it: apt install nftables',
    ])
  })

  test('nothing where nft could not be given its rules, as with a full disk, and a policy isolates', async () => {
    const fault = 'ENOSPC: no space left on device, write'
    const full = createFirewall({
      log: (line) => void lines.push(line),
      run: (program, args, options) =>
        options?.stdin === undefined ? kernel.run(program, args, options) : Promise.reject(new Error(fault)),
    })
    await full.apply(view([]))
    expect(full.status()).toEqual({ fault: undefined, mayCarryPackets: true })
    await full.apply(view([isolateIngress]))
    expect(full.status()).toEqual({ fault, mayCarryPackets: false })
  })

  test('what the former table lets pass, while a view that isolates the same directions is refused', async () => {
    await firewall.apply(view([isolateIngress, acceptAll]))
    kernel.refusal = 'Error: Operation not permitted (you must be root)\nmore'
    await firewall.apply(view([isolateIngress]))
    await firewall.apply(view([isolateIngress]))
    const fault =
      'nft could not read its table: Error: Operation not permitted (you must be root) Run the agent as root, or with CAP_NET_ADMIN.'
    expect(firewall.status()).toEqual({ fault, mayCarryPackets: true })
    expect(lines).toEqual([`firewall: policies are not enforced, the former rules stay in force: ${fault}`])
    kernel.refusal = undefined
    await firewall.apply(view([isolateIngress]))
    expect(firewall.status()).toEqual({ fault: undefined, mayCarryPackets: true })
    expect(lines.at(-1)).toBe('firewall: policies are enforced again')
  })

  test('nothing while a view that isolates a further direction is refused', async () => {
    await firewall.apply(view([isolateIngress]))
    kernel.refusal = 'Error: Out of memory'
    await firewall.apply(view([isolateIngress, isolateEgress]))
    expect(firewall.status().mayCarryPackets).toBe(false)
  })
})

test('views that come while one is applied replace each other, and their callers wait for the last one', async () => {
  const views = ['100.64.0.1', '100.64.0.2', '100.64.0.3', '100.64.0.4'].map((address) =>
    view([isolateIngress, acceptAll], [address]),
  )
  await Promise.all(views.map((one) => firewall.apply(one)))
  expect(kernel.sent).toHaveLength(2)
  expect(kernel.sent[0]).toContain('"elem":["100.64.0.1"]')
  expect(kernel.sent[1]).toContain('"elem":["100.64.0.4"]')
})

test('the peers of an unchanged view are not sent again', async () => {
  await firewall.apply(view([isolateIngress, acceptAll]))
  await firewall.apply(view([isolateIngress, acceptAll]))
  expect(kernel.sent).toHaveLength(1)
})

test('an address is sent in its canonical text; what is no address, and an id of another form, is not sent', async () => {
  const hostile = '10.0.0.1 } ; flush ruleset'
  const given = view(
    [isolateIngress, acceptAll],
    ['2001:DB8:0::1', hostile, '010.0.0.1', '', '10.0.0.1/8', '::ffff:10.0.0.1'],
  )
  const policies = given.policies.map((policy) => ({ ...policy, policyId: hostile }))
  await firewall.apply({ ...given, policies })
  expect(kernel.sent[0]).toContain('"elem":["2001:db8::1"]')
  for (const text of ['flush ruleset', '10.0.0.1']) expect(kernel.sent[0]).not.toContain(text)
})

test.each(['', 'a b', 'ctl*', 'ctl0"', '-ctl', '../ctl', 'sixteen-letters-'])(
  '%j is refused as the name of an interface',
  async (name) => {
    await firewall.apply({ ...view([isolateIngress]), interfaceName: name })
    expect(firewall.status()).toEqual({
      fault: `${JSON.stringify(name)} is no name for an interface. Use 1 to 15 of: letters, digits, _ . -`,
      mayCarryPackets: false,
    })
    expect(kernel.sent).toEqual([])
  },
)

describe('flows that are tracked', () => {
  const tcp = (from: string, to: string, port: number) =>
    `tcp      6 431999 ESTABLISHED src=${from} dst=${to} sport=40000 dport=${port} src=${to} dst=${from} sport=${port} dport=40000 [ASSURED] mark=0 use=1`
  const OWN = '100.64.0.1'
  const PEER = '100.64.0.2'
  const web: AcceptEntry = { ...acceptAll, protocol: 'tcp', ports: [[80, 80]] }

  test('those that are no longer allowed are deleted, and no others', async () => {
    kernel.flows = [
      tcp(PEER, OWN, 80),
      tcp(PEER, OWN, 22),
      tcp(OWN, PEER, 22),
      tcp('192.168.1.5', OWN, 22),
      `icmp     1 29 src=${PEER} dst=${OWN} type=8 code=0 id=7 src=${OWN} dst=${PEER} type=0 code=0 id=7 mark=0 use=1`,
      `unknown  47 29 src=${PEER} dst=${OWN} src=${OWN} dst=${PEER} mark=0 use=1`,
    ].join('\n')
    await firewall.apply(view([isolateIngress, web], [PEER]))
    expect(kernel.deleted).toEqual([
      `-D -f ipv4 -p tcp --orig-src ${PEER} --orig-dst ${OWN} --orig-port-dst 22`,
      `-D -f ipv4 -p icmp --orig-src ${PEER} --orig-dst ${OWN}`,
    ])
  })

  test('a flow is judged by the port before translation where it comes in, and by the one after it where it goes out', async () => {
    kernel.flows = [
      `tcp 6 9 ESTABLISHED src=${PEER} dst=${OWN} sport=1 dport=8080 src=172.17.0.2 dst=${PEER} sport=80 dport=1 mark=0 use=1`,
      `tcp 6 9 ESTABLISHED src=${OWN} dst=10.96.0.1 sport=1 dport=443 src=${PEER} dst=${OWN} sport=80 dport=1 mark=0 use=1`,
      `tcp 6 9 ESTABLISHED src=${OWN} dst=10.96.0.2 sport=1 dport=80 src=${PEER} dst=${OWN} sport=8443 dport=1 mark=0 use=1`,
    ].join('\n')
    await firewall.apply(view([isolateIngress, isolateEgress, web, { ...web, direction: 'egress' }], [PEER]))
    expect(kernel.deleted).toEqual([
      `-D -f ipv4 -p tcp --orig-src ${PEER} --orig-dst ${OWN} --orig-port-dst 8080`,
      `-D -f ipv4 -p tcp --orig-src ${OWN} --orig-dst 10.96.0.2 --orig-port-dst 80`,
    ])
  })

  test('those with a peer that is gone are deleted', async () => {
    await firewall.apply(view([isolateIngress, acceptAll], [PEER, '100.64.0.3']))
    kernel.flows = tcp(OWN, PEER, 22)
    await firewall.apply(view([isolateIngress, acceptAll], ['100.64.0.3']))
    expect(kernel.deleted).toEqual([`-D -f ipv4 -p tcp --orig-src ${OWN} --orig-dst ${PEER} --orig-port-dst 22`])
  })

  test('those that a peer opened before it went are deleted at once', async () => {
    await firewall.apply(view([isolateIngress, acceptAll], [PEER, '100.64.0.3']))
    kernel.flows = Array.from({ length: 2_000 }, (_, port) => tcp(PEER, OWN, port + 1)).join('\n')
    await firewall.apply(view([isolateIngress, acceptAll], ['100.64.0.3']))
    expect(kernel.deleted).toEqual([`-D -f ipv4 -p tcp --orig-src ${PEER} --orig-dst ${OWN}`])
  })

  test('without conntrack the policies are enforced, and what is missing is logged once', async () => {
    kernel.missing.add('conntrack')
    await firewall.apply(view([isolateIngress, acceptAll]))
    await firewall.apply(view([isolateIngress]))
    expect(firewall.status()).toEqual({ fault: undefined, mayCarryPackets: true })
    expect(lines).toEqual([
      'firewall: replies of flows that a policy withdrew pass until the flows end: conntrack is not installed. Install it: apt install conntrack',
    ])
  })
})
