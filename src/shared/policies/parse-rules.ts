import { parseCidr, type CidrFault } from '../networks/cidr.ts'
import { parsePortRange } from './ports.ts'
import { CIDRS_MAX, PORT_RANGES_MAX, RULES_MAX, type AuthoredPolicy, type AuthoredRule } from './rule-types.ts'

/** A fault of a rule. `member`: the member at fault, with the index in a list, such as `cidrs.3`. */
export interface RuleError {
  readonly member: string
  readonly message: string
}

/** The faults of a rule apart from those of its selectors; empty if there are none. */
export function ruleErrors(rule: AuthoredRule): readonly RuleError[] {
  return [
    ...remoteErrors(rule),
    ...cidrErrors('cidrs', rule.cidrs),
    ...cidrErrors('except_cidrs', rule.except_cidrs),
    ...portErrors(rule),
  ]
}

/** The faults of a policy's rules; members begin with `rules.<index>.`. */
export function policyErrors({ rules }: AuthoredPolicy): readonly RuleError[] {
  if (rules.length > RULES_MAX) return [{ member: 'rules', message: `must have at most ${RULES_MAX} rules` }]
  return rules.flatMap((rule, index) =>
    ruleErrors(rule).map(({ member, message }) => ({ member: `rules.${index}.${member}`, message })),
  )
}

function remoteErrors({ peers, cidrs }: AuthoredRule): readonly RuleError[] {
  if (peers !== undefined || (cidrs !== undefined && cidrs.length > 0)) return []
  return [{ member: 'peers', message: 'must be given unless cidrs is; "*" is every node of the Domain' }]
}

const CIDR_MESSAGES: Readonly<Record<CidrFault, string>> = {
  malformed: 'must be an IPv4 or IPv6 network such as 10.0.0.0/8',
  no_prefix: 'must have a prefix length; /32 (IPv4) or /128 (IPv6) is a single address',
  host_bits: 'must have no bits set after the prefix length',
  mapped: 'must not be an IPv4-mapped IPv6 network; write the IPv4 network',
}

function cidrErrors(member: 'cidrs' | 'except_cidrs', cidrs: readonly string[] = []): readonly RuleError[] {
  if (cidrs.length > CIDRS_MAX) return [{ member, message: `must have at most ${CIDRS_MAX} entries` }]
  return cidrs.flatMap((text, index) => {
    const read = parseCidr(text)
    return read.ok ? [] : [{ member: `${member}.${index}`, message: CIDR_MESSAGES[read.fault] }]
  })
}

function portErrors({ protocol, ports = [] }: AuthoredRule): readonly RuleError[] {
  if (ports.length === 0) return []
  if (protocol !== 'tcp' && protocol !== 'udp')
    return [{ member: 'ports', message: 'must be absent unless protocol is tcp or udp' }]
  if (ports.length > PORT_RANGES_MAX)
    return [{ member: 'ports', message: `must have at most ${PORT_RANGES_MAX} entries` }]
  return ports.flatMap((text, index) =>
    parsePortRange(text) === undefined
      ? [{ member: `ports.${index}`, message: 'must be a port from 1 to 65535 or a range such as 8000-8100' }]
      : [],
  )
}
