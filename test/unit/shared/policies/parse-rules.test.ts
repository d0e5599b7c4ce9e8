import { describe, expect, it } from 'vitest'
import { policyErrors, ruleErrors } from '../../../../src/shared/policies/parse-rules.ts'
import type { AuthoredRule } from '../../../../src/shared/policies/rule-types.ts'

const rule = (members: Partial<AuthoredRule>): AuthoredRule => ({
  direction: 'ingress',
  peers: '*',
  protocol: 'any',
  ...members,
})
const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => `10.0.0.${index}/32`)
const ports = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index + 1))

describe('A rule without errors', () => {
  it.each([
    rule({}),
    rule({ peers: undefined, cidrs: ['0.0.0.0/0'] }),
    rule({ peers: 'env=prod', cidrs: ['::/0'], except_peers: 'legacy', except_cidrs: ['10.0.0.0/8'] }),
    rule({ protocol: 'tcp', ports: ['1', '65535', '8000-8100', '22-22'] }),
    rule({ protocol: 'udp', ports: [] }),
    rule({ protocol: 'icmp' }),
    rule({ cidrs: texts(64), except_cidrs: texts(64), protocol: 'udp', ports: ports(64) }),
  ])('case %#', (value) => {
    expect(ruleErrors(value)).toEqual([])
  })
})

const REMOTE = 'must be given unless cidrs is; "*" is every node of the Domain'
const PORT = 'must be a port from 1 to 65535 or a range such as 8000-8100'

describe('An error of a rule names the member', () => {
  it.each([
    [rule({ peers: undefined }), 'peers', REMOTE],
    [rule({ peers: undefined, cidrs: [] }), 'peers', REMOTE],
    [rule({ peers: undefined, except_peers: 'env=dev' }), 'peers', REMOTE],
    [
      rule({ cidrs: ['10.0.0.0/8', '10.0.0.1'] }),
      'cidrs.1',
      'must have a prefix length; /32 (IPv4) or /128 (IPv6) is a single address',
    ],
    [rule({ cidrs: ['10.0.0.1/8'] }), 'cidrs.0', 'must have no bits set after the prefix length'],
    [rule({ except_cidrs: ['all'] }), 'except_cidrs.0', 'must be an IPv4 or IPv6 network such as 10.0.0.0/8'],
    [
      rule({ cidrs: ['::ffff:10.0.0.0/104'] }),
      'cidrs.0',
      'must not be an IPv4-mapped IPv6 network; write the IPv4 network',
    ],
    [rule({ cidrs: texts(65) }), 'cidrs', 'must have at most 64 entries'],
    [rule({ except_cidrs: texts(65) }), 'except_cidrs', 'must have at most 64 entries'],
    [rule({ ports: ['22'] }), 'ports', 'must be absent unless protocol is tcp or udp'],
    [rule({ protocol: 'icmp', ports: ['22'] }), 'ports', 'must be absent unless protocol is tcp or udp'],
    [rule({ protocol: 'tcp', ports: ports(65) }), 'ports', 'must have at most 64 entries'],
    ...['0', '65536', '022', '22-', '-22', '100-99', '22-70000', ' 22', '22,23', 'ssh', '1e3', ''].map(
      (text) => [rule({ protocol: 'tcp', ports: ['1', text] }), 'ports.1', PORT] as const,
    ),
  ] as const)('case %#', (value, member, message) => {
    expect(ruleErrors(value)).toEqual([{ member, message }])
  })

  it('all errors are found, those of a policy with the index of the rule', () => {
    const wrong = rule({ peers: undefined, except_cidrs: ['x'], protocol: 'tcp', ports: ['0'] })
    expect(policyErrors({ rules: [rule({}), wrong] }).map(({ member }) => member)).toEqual([
      'rules.1.peers',
      'rules.1.except_cidrs.0',
      'rules.1.ports.0',
    ])
  })
})

it('A policy has at most 64 rules', () => {
  const rules = (count: number): AuthoredRule[] => Array.from({ length: count }, () => rule({}))
  expect(policyErrors({ rules: rules(64) })).toEqual([])
  expect(policyErrors({ rules: rules(65) })).toEqual([{ member: 'rules', message: 'must have at most 64 rules' }])
})
