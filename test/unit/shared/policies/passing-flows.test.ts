import { describe, expect, it } from 'vitest'
import { compilePolicy } from '../../../../src/shared/policies/compile-policy.ts'
import type { AuthoredPolicy } from '../../../../src/shared/policies/rule-types.ts'
import { passingFlows, prepareParty, verdictOf, type Party } from '../../../../src/shared/policies/verdict.ts'

const ALONE: AuthoredPolicy = { rules: [] }
const OUT: AuthoredPolicy = { rules: [{ direction: 'egress', peers: '*', protocol: 'tcp', ports: ['5-20', '30'] }] }
const IN: AuthoredPolicy = {
  rules: [
    { direction: 'ingress', peers: '*', protocol: 'tcp', ports: ['1-7', '18-40'] },
    { direction: 'ingress', peers: '*', protocol: 'icmp' },
  ],
}
const CLOSED: AuthoredPolicy = { isolates: ['ingress'], rules: [] }
const party = (policy: AuthoredPolicy, meshAddress: string): Party => ({
  groups: [],
  meshAddress,
  policies: [{ policyId: 'p', entries: compilePolicy(policy, () => 1).rules }],
})

describe('The ports that pass', () => {
  it.each([
    ['everything without isolation', ALONE, ALONE],
    ['what the sender lets out', OUT, ALONE],
    ['what the receiver lets in', ALONE, IN],
    ['what both let pass', OUT, IN],
    ['nothing where one end is closed', OUT, CLOSED],
  ])('are those of each verdict: %s', (_, sender, receiver) => {
    const [from, to] = [party(sender, '100.64.0.1'), party(receiver, '100.64.0.2')]
    const { tcp: ranges, icmp } = passingFlows(prepareParty(from), prepareParty(to))
    const ports = [...Array.from({ length: 50 }, (__, at) => at + 1), 65_535]
    const passing = ports.filter((port) => ranges.some(([first, last]) => first <= port && port <= last))
    expect(passing).toEqual(ports.filter((port) => verdictOf(from, to, { protocol: 'tcp', port }).allowed))
    expect(icmp.length > 0).toBe(verdictOf(from, to, { protocol: 'icmp' }).allowed)
  })
})
