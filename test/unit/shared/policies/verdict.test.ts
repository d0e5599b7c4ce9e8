import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePolicy } from '../../../../src/shared/policies/compile-policy.ts'
import type { AuthoredPolicy, AuthoredRule } from '../../../../src/shared/policies/rule-types.ts'
import { preparePolicies } from '../../../../src/shared/policies/prepare-policies.ts'
import {
  mayExchange,
  prepareParty,
  sideAllows,
  verdictOf,
  type Flow,
  type Party,
} from '../../../../src/shared/policies/verdict.ts'
import { depth } from '../../../support/run/depth.ts'
import { naiveAllows, naiveSide } from '../../../support/policies/naive-verdict.ts'
import { authoredRule, flow, groupOf, party } from '../../../support/policies/policy-worlds.ts'

const RUNS = depth({ ci: 500, deep: 10_000 })

const rule = (members: Partial<AuthoredRule>): AuthoredRule => ({
  direction: 'ingress',
  peers: '*',
  protocol: 'any',
  ...members,
})
const entriesOf = (policyId: string, policy: AuthoredPolicy) => ({
  policyId,
  entries: compilePolicy(policy, groupOf).rules,
})

/** A node in the groups 1 and 2 without policies. */
const WEB: Party = { groups: [1, 2], meshAddress: '100.64.0.1', policies: [] }
const V6: Party = { groups: [], meshAddress: '2001:db8::1', policies: [] }
const isolatedNode = (...rules: readonly AuthoredRule[]): Party => ({
  groups: [3],
  meshAddress: '100.64.0.2',
  policies: [entriesOf('p', { isolates: ['ingress'], rules })],
})
const passes = (to: Party, asked: Flow = {}, from: Party = WEB): boolean => verdictOf(from, to, asked).allowed

describe('Isolation', () => {
  it('without it every flow passes, also where rules accept some', () => {
    const open: Party = { ...WEB, policies: [entriesOf('p', { isolates: [], rules: [rule({ peers: 'g9' })] })] }
    expect(verdictOf(WEB, open, { protocol: 'tcp', port: 22 })).toEqual({
      allowed: true,
      egress: { isolated: false, allowed: true },
      ingress: { isolated: false, allowed: true },
    })
  })

  it('an isolated node without rules has no flow in that direction, and all flows in the other', () => {
    const node = isolatedNode()
    expect(passes(node)).toBe(false)
    expect(verdictOf(node, WEB, {}).allowed).toBe(true)
    expect(mayExchange(node, WEB)).toBe(true)
  })

  it('both ends must allow: one that denies is enough', () => {
    const sealed: Party = { ...WEB, policies: [entriesOf('q', { isolates: ['egress'], rules: [] })] }
    expect(verdictOf(sealed, isolatedNode(rule({})), {})).toEqual({
      allowed: false,
      egress: { isolated: true, allowed: false, by: { policyId: 'q', entry: 0 } },
      ingress: { isolated: true, allowed: true, by: { policyId: 'p', entry: 0 } },
    })
  })
})

describe('A rule covers a remote end', () => {
  it.each([
    ['of its group', rule({ peers: 'g2' }), true],
    ['of another group', rule({ peers: 'g3' }), false],
    ['of a group that no node has', rule({ peers: 'g999' }), false],
    ['of any group for *', rule({ peers: '*' }), true],
    ['of its networks', rule({ peers: undefined, cidrs: ['100.64.0.0/30'] }), true],
    ['of other networks', rule({ peers: undefined, cidrs: ['100.64.0.4/30'] }), false],
    ['of its networks or its group', rule({ peers: 'g1', cidrs: ['10.0.0.0/8'] }), true],
    ['unless its group is excepted', rule({ except_peers: 'g1' }), false],
    ['unless another group is excepted', rule({ except_peers: 'g3' }), true],
    ['unless every node is excepted', rule({ except_peers: '*' }), false],
    ['unless every node is excepted, networks too', rule({ cidrs: ['0.0.0.0/0'], except_peers: '*' }), false],
    ['unless its address is excepted, groups too', rule({ peers: 'g1', except_cidrs: ['100.64.0.0/29'] }), false],
    ['unless its group is excepted, networks too', rule({ cidrs: ['100.64.0.0/10'], except_peers: 'g2' }), false],
  ])('%s', (_, only, expected) => {
    expect(passes(isolatedNode(only))).toBe(expected)
  })

  it('of IPv6 only by networks of IPv6', () => {
    expect(passes(isolatedNode(rule({ peers: undefined, cidrs: ['0.0.0.0/0'] })), {}, V6)).toBe(false)
    expect(passes(isolatedNode(rule({ peers: undefined, cidrs: ['2001:db8::/64'] })), {}, V6)).toBe(true)
  })

  it('without a readable address by no network', () => {
    const lost: Party = { ...WEB, meshAddress: '' }
    expect(passes(isolatedNode(rule({ peers: undefined, cidrs: ['0.0.0.0/0', '::/0'] })), {}, lost)).toBe(false)
    expect(passes(isolatedNode(rule({ except_cidrs: ['0.0.0.0/0', '::/0'] })), {}, lost)).toBe(true)
  })
})

describe('A flow', () => {
  const ssh = isolatedNode(rule({ protocol: 'tcp', ports: ['22', '8000-8100'] }))
  it.each([
    [ssh, { protocol: 'tcp', port: 22 }, true],
    [ssh, { protocol: 'tcp', port: 23 }, false],
    [ssh, { protocol: 'tcp', port: 8000 }, true],
    [ssh, { protocol: 'tcp', port: 8100 }, true],
    [ssh, { protocol: 'tcp', port: 8101 }, false],
    [ssh, { protocol: 'udp', port: 22 }, false],
    [ssh, { protocol: 'icmp' }, false],
    [ssh, { protocol: 'tcp' }, true],
    [ssh, { protocol: 'udp' }, false],
    [ssh, { port: 22 }, true],
    [ssh, { port: 23 }, false],
    [ssh, {}, true],
    [isolatedNode(rule({ protocol: 'icmp' })), { protocol: 'icmp' }, true],
    [isolatedNode(rule({ protocol: 'icmp' })), { port: 22 }, false],
    [isolatedNode(rule({ protocol: 'icmp' })), {}, true],
    [isolatedNode(rule({ protocol: 'udp' })), { protocol: 'udp', port: 65_535 }, true],
    [isolatedNode(rule({ protocol: 'any' })), { protocol: 'icmp' }, true],
  ] as const)('case %#', (to, asked, expected) => {
    expect(passes(to, asked)).toBe(expected)
  })

  it('needs one port that both ends allow', () => {
    const from = (ports: readonly string[]): Party => ({
      ...WEB,
      policies: [entriesOf('q', { rules: [rule({ direction: 'egress', protocol: 'tcp', ports })] })],
    })
    expect(verdictOf(from(['1-21', '23-7999', '8101']), ssh, {})).toMatchObject({
      allowed: false,
      egress: { allowed: true },
      ingress: { allowed: true },
    })
    expect(passes(ssh, {}, from(['1-21', '8100-9000']))).toBe(true)
    expect(mayExchange(isolatedNode(), isolatedNode())).toBe(false)
  })
})

it('A verdict names the first entry that accepts the flow which passes, or that isolates', () => {
  const to: Party = {
    ...WEB,
    policies: [
      entriesOf('a', { rules: [rule({ peers: 'g9' })] }),
      entriesOf('b', { rules: [rule({ protocol: 'tcp', ports: ['5'] }), rule({ protocol: 'tcp', ports: ['7'] })] }),
    ],
  }
  const by = (asked: Flow, from: Party = WEB) => verdictOf(from, to, asked).ingress.by
  expect(by({ protocol: 'tcp', port: 5 })).toEqual({ policyId: 'b', entry: 0 })
  expect(by({ protocol: 'tcp', port: 7 })).toEqual({ policyId: 'b', entry: 1 })
  expect(by({ protocol: 'udp' })).toEqual({ policyId: 'a', entry: 1 })
  const seven = {
    ...WEB,
    policies: [entriesOf('c', { rules: [rule({ direction: 'egress', protocol: 'tcp', ports: ['7'] })] })],
  }
  expect(by({}, seven)).toEqual({ policyId: 'b', entry: 1 })
})

describe('Of random worlds', () => {
  it('the verdict is that of trying every flow', () => {
    fc.assert(
      fc.property(party, party, flow, (from, to, asked) => {
        const verdict = verdictOf(from, to, asked)
        expect(verdict.allowed).toBe(naiveAllows(from, to, asked))
        if (!verdict.allowed) {
          expect(verdict.egress).toMatchObject(naiveSide(from, to, { direction: 'egress', ...asked }))
          expect(verdict.ingress).toMatchObject(naiveSide(to, from, { direction: 'ingress', ...asked }))
        }
      }),
      { numRuns: RUNS },
    )
  })

  it('a node decides its own side as the verdict does, and prepared parties have the same verdict', () => {
    fc.assert(
      fc.property(party, party, flow, (from, to, asked) => {
        const egress = sideAllows(from.policies, to, { direction: 'egress', ...asked })
        const ingress = sideAllows(preparePolicies(to.policies), from, { direction: 'ingress', ...asked })
        expect(egress).toMatchObject(naiveSide(from, to, { direction: 'egress', ...asked }))
        expect(ingress).toMatchObject(naiveSide(to, from, { direction: 'ingress', ...asked }))
        const verdict = verdictOf(from, to, asked)
        if (verdict.allowed) expect([egress.allowed, ingress.allowed]).toEqual([true, true])
        if (asked.port !== undefined && asked.protocol !== undefined) expect(verdict).toMatchObject({ egress, ingress })
        expect(verdictOf(prepareParty(from), prepareParty(to), asked)).toEqual(verdict)
      }),
      { numRuns: RUNS },
    )
  })

  it('two nodes may exchange what passes in either direction, whichever is named first', () => {
    fc.assert(
      fc.property(party, party, (one, other) => {
        const expected = naiveAllows(one, other, {}) || naiveAllows(other, one, {})
        expect(mayExchange(one, other)).toBe(expected)
        expect(mayExchange(other, one)).toBe(expected)
      }),
      { numRuns: RUNS },
    )
  })

  it('an accept rule that is added takes no flow away', () => {
    const added = fc.record({ rule: authoredRule, isFirst: fc.boolean(), place: fc.nat({ max: 2 }) })
    fc.assert(
      fc.property(party, party, fc.tuple(flow, added), (from, to, [asked, more]) => {
        const [accept] = compilePolicy({ isolates: [], rules: [more.rule] }, groupOf).rules
        const withMore = (node: Party): Party => ({
          ...node,
          policies: node.policies.map((policy, index) =>
            index === more.place && accept !== undefined ? { ...policy, entries: [...policy.entries, accept] } : policy,
          ),
        })
        const before = verdictOf(from, to, asked).allowed
        const after = more.isFirst ? verdictOf(withMore(from), to, asked) : verdictOf(from, withMore(to), asked)
        if (before) expect(after.allowed).toBe(true)
      }),
      { numRuns: RUNS },
    )
  })
})
