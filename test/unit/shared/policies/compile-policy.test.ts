import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalize } from '../../../../src/shared/canonical-json.ts'
import { compilePolicy } from '../../../../src/shared/policies/compile-policy.ts'
import { readEntries } from '../../../../src/shared/policies/read-entries.ts'
import type { AcceptEntry, AuthoredPolicy, AuthoredRule } from '../../../../src/shared/policies/rule-types.ts'
import { authoredPolicy, groupOf, shuffled } from '../../../support/policies/policy-worlds.ts'

const rule = (members: Partial<AuthoredRule>): AuthoredRule => ({
  direction: 'ingress',
  peers: '*',
  protocol: 'any',
  ...members,
})
const textOf = (policy: AuthoredPolicy): string => compilePolicy(policy, groupOf).text

describe('A compiled policy', () => {
  it('has every member, sorted lists and merged ports', () => {
    const { text } = compilePolicy(
      {
        rules: [
          rule({
            direction: 'egress',
            peers: 'g12',
            except_peers: 'g3',
            cidrs: ['10.0.0.0/8', '2001:DB8::/32', '10.0.0.0/8', '0.0.0.0/0'],
            except_cidrs: ['10.1.0.0/16'],
            protocol: 'tcp',
            ports: ['8000-8100', '22', '23', '8050-8200', '22'],
          }),
        ],
      },
      groupOf,
    )
    expect(text).toBe(
      '[{"action":"accept","cidrs":["0.0.0.0/0","10.0.0.0/8","2001:db8::/32"],"direction":"egress",' +
        '"except_cidrs":["10.1.0.0/16"],"except_groups":[3],"groups":[12],"ports":[[22,23],[8000,8200]],' +
        '"protocol":"tcp"},{"action":"isolate","direction":"egress"}]',
    )
  })

  it('has group 0 for every node, which groupOf is not asked for', () => {
    const asked: string[] = []
    const { rules } = compilePolicy({ isolates: [], rules: [rule({ except_peers: 'x' })] }, (selector) => {
      asked.push(selector)
      return 7
    })
    expect([asked, rules]).toMatchObject([['x'], [{ groups: [0], except_groups: [7] }]])
  })

  it('isolates in the directions of its rules, unless it names them', () => {
    const isolated = (policy: AuthoredPolicy): unknown[] =>
      compilePolicy(policy, groupOf).rules.flatMap((entry) => (entry.action === 'isolate' ? [entry.direction] : []))
    const both = [rule({}), rule({ direction: 'egress' })]
    expect(isolated({ rules: both })).toEqual(['egress', 'ingress'])
    expect(isolated({ rules: [rule({})] })).toEqual(['ingress'])
    expect(isolated({ isolates: [], rules: both })).toEqual([])
    expect(isolated({ isolates: ['ingress', 'egress', 'ingress'], rules: [] })).toEqual(['egress', 'ingress'])
    expect(isolated({ rules: [] })).toEqual([])
  })

  it('has the fingerprint of its text: padded base64 of 32 bytes', () => {
    const { text, fingerprint } = compilePolicy({ isolates: ['ingress'], rules: [] }, groupOf)
    expect(text).toBe('[{"action":"isolate","direction":"ingress"}]')
    expect(fingerprint).toBe('vhUiJSEaNaJchgCnowhbe7mB7tx27S6OI1ImgzFpCUE=')
  })

  it('is empty without rules', () => {
    expect(compilePolicy({ rules: [] }, groupOf)).toEqual({
      rules: [],
      text: '[]',
      fingerprint: 'T1PNoYwrqgwDVLtfmj7L5e0Sq02OEbqHPC8RFhICuUU=',
    })
  })

  it.each([
    ['port range', { protocol: 'tcp', ports: ['0'] }],
    ['network', { cidrs: ['10.0.0.1/8'] }],
    ['group', { peers: 'none' }],
  ] as const)('is refused where a rule has an invalid %s', (what, members) => {
    const compile = (): unknown => compilePolicy({ rules: [rule(members)] }, () => 0)
    expect(compile).toThrow(RangeError)
    expect(compile).toThrow(`is no valid ${what}`)
  })
})

it('The bytes do not depend on the order and repetition of rules, networks and ports', () => {
  fc.assert(
    fc.property(authoredPolicy, fc.infiniteStream(fc.nat()), (policy, stream) => {
      const next = (): number => stream.next().value
      const again = policy.rules.map((one) => ({
        ...one,
        cidrs: one.cidrs && shuffled([...one.cidrs, ...one.cidrs], next),
        except_cidrs: one.except_cidrs && shuffled(one.except_cidrs, next),
        ports: one.ports && shuffled([...one.ports, ...one.ports], next),
      }))
      const isolates = policy.isolates && shuffled(policy.isolates, next)
      expect(textOf({ isolates, rules: shuffled([...again, ...policy.rules], next) })).toBe(textOf(policy))
    }),
  )
})

it('What was compiled, written as rules and compiled, is the same', () => {
  const authored = ({ direction, protocol, ...entry }: AcceptEntry): AuthoredRule => ({
    direction,
    protocol,
    peers: entry.groups[0] === undefined ? undefined : selectorOf(entry.groups[0]),
    except_peers: entry.except_groups[0] === undefined ? undefined : selectorOf(entry.except_groups[0]),
    cidrs: entry.cidrs,
    except_cidrs: entry.except_cidrs,
    ports: entry.ports.map(([from, to]) => `${from}-${to}`),
  })
  const selectorOf = (group: number): string => (group === 0 ? '*' : `g${group}`)
  fc.assert(
    fc.property(authoredPolicy, (policy) => {
      const { rules, text } = compilePolicy(policy, groupOf)
      const isolates = rules.flatMap((entry) => (entry.action === 'isolate' ? [entry.direction] : []))
      const accepts = rules.flatMap((entry) => (entry.action === 'accept' ? [authored(entry)] : []))
      expect(textOf({ isolates, rules: accepts })).toBe(text)
    }),
  )
})

it('The text is canonical, the fingerprint its SHA-256, and an agent understands every entry', () => {
  fc.assert(
    fc.property(authoredPolicy, (policy) => {
      const { rules, text, fingerprint } = compilePolicy(policy, groupOf)
      expect(canonicalize(rules)).toBe(text)
      expect(fingerprint).toBe(createHash('sha256').update(text).digest('base64'))
      expect(readEntries(JSON.parse(text))).toEqual({ entries: rules, unknown: 0 })
    }),
  )
})
