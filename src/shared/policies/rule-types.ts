/** Which way a flow crosses the node that the policy matches: `ingress` towards it, `egress` away from it. */
export const DIRECTIONS = ['ingress', 'egress'] as const
export type Direction = (typeof DIRECTIONS)[number]

/** The protocols of rules. `icmp` is ICMP and ICMPv6; `any` also covers protocols that are not listed here. */
export const RULE_PROTOCOLS = ['any', 'tcp', 'udp', 'icmp'] as const
export type RuleProtocol = (typeof RULE_PROTOCOLS)[number]

/** Maximum number of rules in a policy. */
export const RULES_MAX = 64
/** Maximum number of entries in each of `cidrs` and `except_cidrs` of a rule. */
export const CIDRS_MAX = 64
/** Maximum number of entries in `ports` of a rule. */
export const PORT_RANGES_MAX = 64
export const PORT_MAX = 65_535

/** The selector that matches every node of the Domain. */
export const EVERY_NODE_SELECTOR = '*'
/** The group of that selector. No node lists it among its groups. */
export const EVERY_NODE_GROUP = 0

/** Whether a value is a group that nodes can be in: a positive integer. */
export function isGroup(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > EVERY_NODE_GROUP
}

/**
 * A rule as a person writes it. It accepts flows to or from the named remote ends; rules of a node form a union without an
 * order. It names `peers` or `cidrs` or both: an absent member never means everybody.
 */
export interface AuthoredRule {
  readonly direction: Direction
  /** Selector of the remote nodes; `*` is every node of the Domain. */
  readonly peers?: string | undefined
  /** Selector of remote nodes that this rule does not accept. */
  readonly except_peers?: string | undefined
  /** Remote addresses, IPv4 or IPv6, with host bits zero. */
  readonly cidrs?: readonly string[] | undefined
  readonly except_cidrs?: readonly string[] | undefined
  readonly protocol: RuleProtocol
  /** Destination ports, such as `22` or `8000-8100`; only for `tcp` and `udp`. Absent or empty: all ports. */
  readonly ports?: readonly string[] | undefined
}

/** The part of a policy that is compiled. */
export interface AuthoredPolicy {
  /** Directions in which matched nodes are isolated. Default: the directions of the rules. */
  readonly isolates?: readonly Direction[] | undefined
  readonly rules: readonly AuthoredRule[]
}

/** First and last port, both included. */
export type PortRange = readonly [number, number]

/** Accepts flows of the matched node with the remote ends that it covers. All members are always present. */
export interface AcceptEntry {
  readonly action: 'accept'
  /** Canonical text, sorted by bytes. */
  readonly cidrs: readonly string[]
  readonly direction: Direction
  readonly except_cidrs: readonly string[]
  readonly except_groups: readonly number[]
  /** Ascending; 0 is every node of the Domain. */
  readonly groups: readonly number[]
  /** Ascending, neither overlapping nor adjacent. Empty: all ports. */
  readonly ports: readonly PortRange[]
  readonly protocol: RuleProtocol
}

/** Isolates the matched node in a direction: only accepted flows pass in it. */
export interface IsolateEntry {
  readonly action: 'isolate'
  readonly direction: Direction
}

export type CompiledEntry = AcceptEntry | IsolateEntry
