import { describe, expect, test } from 'vitest'
import { acceptRules } from '../../../../../src/cli/agent/firewall/accept-rules.ts'
import type { AcceptEntry } from '../../../../../src/shared/policies/rule-types.ts'

/** The networks of the rules of an entry, as text. */
function networksOf(entry: Partial<AcceptEntry>): readonly string[] {
  const accept: AcceptEntry = {
    action: 'accept',
    direction: 'ingress',
    protocol: 'any',
    cidrs: [],
    except_cidrs: [],
    except_groups: [],
    groups: [],
    ports: [],
    ...entry,
  }
  const rules = acceptRules(
    { policyId: 'p', entry: 0, direction: 'ingress', action: 'accept', counter: 'c', accept },
    { meshFamilies: [], networkFamilies: [] },
  )
  return [...JSON.stringify(rules).matchAll(/"addr":"([^"]+)","len":(\d+)/g)].map(([, addr, len]) => `${addr}/${len}`)
}

describe('the networks of an entry', () => {
  test.each([
    [
      ['10.1.2.0/24', '10.0.0.0/8', '10.1.0.0/16', '10.0.0.0/8', '192.168.0.0/16', '192.168.4.4/32'],
      ['10.0.0.0/8', '192.168.0.0/16'],
    ],
    [
      ['10.0.1.0/24', '10.0.0.0/24', '10.0.0.0/25'],
      ['10.0.0.0/24', '10.0.1.0/24'],
    ],
    [
      ['255.255.255.255/32', '128.0.0.0/1', '64.0.0.0/2'],
      ['64.0.0.0/2', '128.0.0.0/1'],
    ],
    [
      ['2001:db8:0:1::/64', '2001:db8::/32', 'fd00::/8', '2001:db8::1/128', 'fd00:1::/32'],
      ['2001:db8::/32', 'fd00::/8'],
    ],
  ])('%j overlap, and are given as %j', (cidrs, expected) => {
    expect(networksOf({ cidrs })).toEqual(expected)
  })

  test('fifty thousand of a hostile server do not occupy the agent for minutes', () => {
    const cidrs = Array.from({ length: 50_000 }, (_, n) => `10.${n >> 15}.${(n >> 7) & 255}.${(n & 127) << 1}/32`)
    expect(networksOf({ cidrs })).toHaveLength(50_000)
  })
})
