import fc from 'fast-check'
import { compilePolicy } from '../../../src/shared/policies/compile-policy.ts'
import type { Flow, Party } from '../../../src/shared/policies/verdict.ts'
import type { AuthoredPolicy, AuthoredRule, Direction } from '../../../src/shared/policies/rule-types.ts'

/** The group of the selector `g<number>`. */
export function groupOf(selector: string): number {
  return Number(selector.slice(1))
}

/** Few of everything, so that rules and nodes meet. */
const selector = fc.constantFrom('*', 'g1', 'g2', 'g3', 'g4', 'g10')
const cidr = fc.constantFrom(
  '0.0.0.0/0',
  '100.64.0.0/10',
  '100.64.0.0/29',
  '100.64.0.4/30',
  '100.64.0.2/32',
  '100.64.0.5/32',
  '::/0',
  '2001:DB8::/126',
  '2001:db8::4/127',
)
const address = fc.constantFrom('100.64.0.1', '100.64.0.2', '100.64.0.5', '10.0.0.1', '2001:db8::2', '2001:db8::4')
const directions = fc.constantFrom<Direction>('ingress', 'egress')
/** Small ports, so that ranges meet and each can be asked for. */
export const PORTS_ASKED = [1, 2, 3, 4, 5, 6, 7, 8, 9, 65_535] as const
const port = fc.constantFrom(...PORTS_ASKED)
const portRange = fc.oneof(
  port.map(String),
  fc.tuple(port, port).map(([one, other]) => `${Math.min(one, other)}-${Math.max(one, other)}`),
)

export const authoredRule: fc.Arbitrary<AuthoredRule> = fc
  .record({
    direction: directions,
    remote: fc.oneof(
      fc.record({ peers: selector }),
      fc.record({ cidrs: fc.array(cidr, { minLength: 1, maxLength: 3 }) }),
      fc.record({ peers: selector, cidrs: fc.array(cidr, { minLength: 1, maxLength: 3 }) }),
    ),
    except: fc.record({ except_peers: selector, except_cidrs: fc.array(cidr, { maxLength: 2 }) }, { requiredKeys: [] }),
    accepted: fc.oneof(
      fc.record({ protocol: fc.constantFrom('any' as const, 'icmp' as const) }),
      fc.record({ protocol: fc.constantFrom('tcp' as const, 'udp' as const) }),
      fc.record({
        protocol: fc.constantFrom('tcp' as const, 'udp' as const),
        ports: fc.array(portRange, { maxLength: 3 }),
      }),
    ),
  })
  .map(({ direction, remote, except, accepted }) => ({ direction, ...remote, ...except, ...accepted }))

export const authoredPolicy: fc.Arbitrary<AuthoredPolicy> = fc.record(
  { isolates: fc.uniqueArray(directions), rules: fc.array(authoredRule, { maxLength: 5 }) },
  { requiredKeys: ['rules'] },
)

/** A node with up to three policies. */
export const party: fc.Arbitrary<Party> = fc.record({
  groups: fc.uniqueArray(fc.constantFrom(1, 2, 3, 4, 10), { maxLength: 4 }),
  meshAddress: address,
  policies: fc
    .array(authoredPolicy, { maxLength: 3 })
    .map((policies) =>
      policies.map((policy, index) => ({ policyId: `p${index}`, entries: compilePolicy(policy, groupOf).rules })),
    ),
})

export const flow: fc.Arbitrary<Flow> = fc.oneof(
  fc.constant({}),
  fc.record({ protocol: fc.constantFrom('tcp' as const, 'udp' as const, 'icmp' as const) }),
  fc.record({ port }),
  fc.record({ protocol: fc.constantFrom('tcp' as const, 'udp' as const), port }),
)

/** The items in an order that the numbers decide. */
export function shuffled<Item>(items: readonly Item[], next: () => number): readonly Item[] {
  return items
    .map((item) => ({ item, place: next() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item)
}
