import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planFilter } from '../../../../../src/cli/agent/firewall/filter-plan.ts'
import type { FirewallPeer } from '../../../../../src/cli/agent/firewall/firewall-view.ts'
import { creation, tableTarget } from '../../../../../src/cli/agent/firewall/table-target.ts'
import type { Direction } from '../../../../../src/shared/policies/rule-types.ts'
import type { FlowProtocol } from '../../../../../src/shared/policies/prepare-policies.ts'
import { sideAllows } from '../../../../../src/shared/policies/verdict.ts'
import { firstPacket } from '../../../../support/firewall/first-packet.ts'
import { interpretRules } from '../../../../support/firewall/interpret-rules.ts'
import { party, PORTS_ASKED } from '../../../../support/policies/policy-worlds.ts'
import { depth } from '../../../../support/run/depth.ts'

const peers = fc
  .uniqueArray(party, { minLength: 1, maxLength: 6, selector: ({ meshAddress }) => meshAddress })
  .map((parties) =>
    parties.map(({ groups, meshAddress }, index): FirewallPeer => ({
      nodeId: `${index}`,
      address: meshAddress,
      groups,
    })),
  )

const flow = fc.record({
  direction: fc.constantFrom<Direction>('ingress', 'egress'),
  protocol: fc.constantFrom<FlowProtocol>('tcp', 'udp', 'icmp'),
  port: fc.constantFrom(...PORTS_ASKED),
})

test('the rules let pass exactly what the policies allow, and count it by the entry that decides', () => {
  fc.assert(
    fc.property(party, peers, fc.array(flow, { minLength: 1, maxLength: 8 }), (own, known, flows) => {
      const policies = own.policies.map((policy) => ({ ...policy, revisionId: 'r', fingerprint: 'f', unknown: 0 }))
      const target = tableTarget({ interfaceName: 'ctl0', forwards: [], policies, peers: known }, planFilter(policies))
      const commands = creation(target, new Map())
      for (const peer of known) {
        for (const asked of flows) {
          const remote = { groups: peer.groups, meshAddress: peer.address }
          const expected = sideAllows(policies, remote, asked)
          const passage = interpretRules(commands, firstPacket(peer.address, asked))
          const counted = target.counted.filter(({ counter }) => passage.counters.includes(counter))
          expect(passage.verdict).toBe(expected.allowed ? 'accept' : 'drop')
          expect(counted.map(({ policyId, entry }) => ({ policyId, entry }))).toEqual(
            expected.by === undefined ? [] : [expected.by],
          )
        }
      }
    }),
    { numRuns: depth({ ci: 300, deep: 100_000 }) },
  )
})
