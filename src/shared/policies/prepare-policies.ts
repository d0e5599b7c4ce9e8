import { parseCidr, type Cidr } from '../networks/cidr.ts'
import { addGroup, createGroupFilter, type GroupFilter } from './group-filter.ts'
import { networkSetOf, ownedNetworks, type NetworkSet, type OwnedNetworks } from './network-set.ts'
import {
  EVERY_NODE_GROUP,
  PORT_MAX,
  type AcceptEntry,
  type CompiledEntry,
  type Direction,
  type PortRange,
  type RuleProtocol,
} from './rule-types.ts'

/** The compiled entries of a policy that matches a node. */
export interface PolicyEntries {
  readonly policyId: string
  readonly entries: readonly CompiledEntry[]
}

/** Names a compiled entry. */
export interface EntryRef {
  readonly policyId: string
  /** Its index in the compiled entries of the policy. */
  readonly entry: number
}

/** The protocol of a flow. `icmp` is ICMP and ICMPv6. */
export const FLOW_PROTOCOLS = ['tcp', 'udp', 'icmp'] as const
export type FlowProtocol = (typeof FLOW_PROTOCOLS)[number]

/** Every flow of a protocol. ICMP has no ports: its flows have the number 0 here. */
export const WHOLE_RANGE: Readonly<Record<FlowProtocol, PortRange>> = {
  tcp: [1, PORT_MAX],
  udp: [1, PORT_MAX],
  icmp: [0, 0],
}

/** An accept entry with its networks parsed. */
export interface PreparedRule {
  readonly ref: EntryRef
  /** Its position among all entries of the node. */
  readonly order: number
  /** Undefined if it excepts none, the usual case. */
  readonly exceptNetworks: NetworkSet | undefined
  readonly exceptGroups: readonly number[]
  /** The accepted ports of each protocol, merged; absent where it accepts none. */
  readonly ranges: Readonly<Partial<Record<FlowProtocol, readonly PortRange[]>>>
}

/** The policies of a node in one direction. */
export interface PreparedSide {
  /** The first entry that isolates the node; undefined if all flows pass. */
  readonly isolatedBy: EntryRef | undefined
  /** The rules that accept each group, by group; those of group 0 accept every node. */
  readonly byGroup: ReadonlyMap<number, readonly PreparedRule[]>
  /** Which groups `byGroup` can have. */
  readonly filter: GroupFilter
  /** The networks that rules name. */
  readonly byAddress: OwnedNetworks<PreparedRule>
}

export type PreparedPolicies = Readonly<Record<Direction, PreparedSide>>

/**
 * Prepares the policies of a node for many verdicts. Their order decides only which of several entries a verdict names.
 *
 * @throws RangeError where an entry has a network that is none; `readEntries` lets none pass.
 */
export function preparePolicies(policies: readonly PolicyEntries[]): PreparedPolicies {
  const sides = { ingress: createSide(), egress: createSide() }
  let order = 0
  for (const { policyId, entries } of policies) {
    entries.forEach((entry, index) => {
      const ref = { policyId, entry: index }
      const side = sides[entry.direction]
      if (entry.action === 'isolate') side.isolatedBy ??= ref
      else addRule(side, entry, prepareRule(entry, ref, order))
      order += 1
    })
  }
  return { ingress: finished(sides.ingress), egress: finished(sides.egress) }
}

interface GrowingSide {
  isolatedBy: EntryRef | undefined
  readonly byGroup: Map<number, PreparedRule[]>
  readonly networks: { readonly cidr: Cidr; readonly owner: PreparedRule }[]
}

function createSide(): GrowingSide {
  return { isolatedBy: undefined, byGroup: new Map(), networks: [] }
}

function finished({ isolatedBy, byGroup, networks }: GrowingSide): PreparedSide {
  const filter = createGroupFilter()
  for (const group of byGroup.keys()) addGroup(filter, group)
  return { isolatedBy, byGroup, filter, byAddress: ownedNetworks(networks) }
}

function addRule(side: GrowingSide, { groups, cidrs }: AcceptEntry, rule: PreparedRule): void {
  // Group 0 as an exception leaves nobody.
  if (rule.exceptGroups.includes(EVERY_NODE_GROUP)) return
  for (const group of groups) {
    const known = side.byGroup.get(group)
    if (known === undefined) side.byGroup.set(group, [rule])
    else known.push(rule)
  }
  for (const cidr of cidrs) side.networks.push({ cidr: cidrOf(cidr), owner: rule })
}

function prepareRule(entry: AcceptEntry, ref: EntryRef, order: number): PreparedRule {
  return {
    ref,
    order,
    exceptNetworks: entry.except_cidrs.length === 0 ? undefined : networkSetOf(entry.except_cidrs.map(cidrOf)),
    exceptGroups: entry.except_groups,
    ranges: rangesOf(entry),
  }
}

function cidrOf(text: string): Cidr {
  const read = parseCidr(text)
  if (!read.ok) throw new RangeError(`${JSON.stringify(text)} is no valid network: ${read.fault}`)
  return read.cidr
}

const COVERED: Readonly<Record<RuleProtocol, readonly FlowProtocol[]>> = {
  any: FLOW_PROTOCOLS,
  tcp: ['tcp'],
  udp: ['udp'],
  icmp: ['icmp'],
}

function rangesOf({ protocol, ports }: AcceptEntry): PreparedRule['ranges'] {
  return Object.fromEntries(
    COVERED[protocol].map((covered) => [covered, ports.length === 0 ? [WHOLE_RANGE[covered]] : ports]),
  )
}
