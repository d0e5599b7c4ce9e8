import { expect, test } from 'vitest'
import { planFilter } from '../../../../../src/cli/agent/firewall/filter-plan.ts'
import { creation, tableTarget } from '../../../../../src/cli/agent/firewall/table-target.ts'
import { readEntries } from '../../../../../src/shared/policies/read-entries.ts'
import type { Flow } from '../../../../../src/shared/policies/verdict.ts'
import { firstPacket, type AskedFlow } from '../../../../support/firewall/first-packet.ts'
import { interpretRules } from '../../../../support/firewall/interpret-rules.ts'
import type { VectorNode, WorldInput } from '../../../../support/policies/policy-vectors.ts'
import { readVectors } from '../../../../support/run/vectors.ts'

interface Verdicts {
  readonly verdicts: readonly {
    readonly egress: { readonly allowed: boolean }
    readonly ingress: { readonly allowed: boolean }
  }[]
}

/** The cases with nodes, and of their flows those that are one packet: with a protocol, and a port where it has ports. */
const cases = readVectors<WorldInput, Verdicts>('policies')
  .vectors.filter(({ input }) => 'nodes' in input)
  .flatMap(({ name, input: { nodes, flows }, expected: { verdicts } }) =>
    flows.flatMap(({ from, to, ...flow }, index) => {
      const [sender, receiver, asked, verdict] = [nodes[from], nodes[to], packetOf(flow), verdicts[index]]
      if (sender === undefined || receiver === undefined || asked === undefined || verdict === undefined) return []
      return [{ name: `${name}, flow ${index}`, sender, receiver, asked, verdict }]
    }),
  )

function packetOf({ protocol, port }: Flow): Omit<AskedFlow, 'direction'> | undefined {
  if (protocol === undefined || (port === undefined && protocol !== 'icmp')) return undefined
  return { protocol, port: port ?? 0 }
}

/** Whether the rules of a node let a flow from or to the peer pass. */
function passes(own: VectorNode, peer: VectorNode, asked: AskedFlow): boolean {
  const policies = own.policies.map(({ policy_id: policyId, rules }) => ({
    policyId,
    revisionId: 'r',
    fingerprint: 'f',
    ...readEntries(rules),
  }))
  const peers = [{ nodeId: 'peer', address: peer.mesh_address, groups: peer.groups }]
  const target = tableTarget({ interfaceName: 'ctl0', forwards: [], policies, peers }, planFilter(policies))
  return interpretRules(creation(target, new Map()), firstPacket(peer.mesh_address, asked)).verdict === 'accept'
}

test('the vectors have flows that are one packet', () => {
  expect(cases.length).toBeGreaterThan(20)
})

test.each(cases)('both ends let pass what the vector says: $name', ({ sender, receiver, asked, verdict }) => {
  expect(passes(sender, receiver, { ...asked, direction: 'egress' })).toBe(verdict.egress.allowed)
  expect(passes(receiver, sender, { ...asked, direction: 'ingress' })).toBe(verdict.ingress.allowed)
})
