import { coveringRules, prepareRemote, type PreparedRemote, type Remote } from './covering-rules.ts'
import { commonPort, mergeRanges } from './ports.ts'
import {
  FLOW_PROTOCOLS,
  preparePolicies,
  WHOLE_RANGE,
  type EntryRef,
  type FlowProtocol,
  type PolicyEntries,
  type PreparedPolicies,
  type PreparedRule,
  type PreparedSide,
} from './prepare-policies.ts'
import type { Direction, PortRange } from './rule-types.ts'

/** What is asked for. Without a port: some port. Without a protocol: some protocol, and with a port TCP or UDP. */
export interface Flow {
  readonly protocol?: FlowProtocol | undefined
  /** Destination port, 1 to 65535. ICMP has none: it is ignored there. */
  readonly port?: number | undefined
}

/** A node with the policies that match it. */
export interface Party extends Remote {
  readonly policies: readonly PolicyEntries[]
}

/** A party that is prepared for many verdicts. */
export interface PreparedParty {
  readonly sides: PreparedPolicies
  readonly remote: PreparedRemote
}

/** What the policies of one end say about a flow with the other end. */
export interface SideVerdict {
  readonly isolated: boolean
  readonly allowed: boolean
  /** The entry that decides: the first that accepts the flow, or the first that isolates. Absent if it is not isolated. */
  readonly by?: EntryRef
}

export interface Verdict {
  /** Whether one flow passes both ends. Both may allow some port each, and no port in common. */
  readonly allowed: boolean
  /** The side of the end that the flow begins at. */
  readonly egress: SideVerdict
  /** The side of the end that it goes to. */
  readonly ingress: SideVerdict
}

/** Prepares a party. `sides` are prepared policies that it shares with others; default: its own policies, prepared. */
export function prepareParty(party: Party, sides: PreparedPolicies = preparePolicies(party.policies)): PreparedParty {
  return { sides, remote: prepareRemote(party) }
}

/** Whether a flow from one node to another passes, by the egress policies of the first and the ingress policies of the other. */
export function verdictOf(from: Party | PreparedParty, to: Party | PreparedParty, flow: Flow): Verdict {
  const [one, other] = [prepared(from), prepared(to)]
  const egress = acceptedBy(one.sides.egress, other.remote)
  const ingress = acceptedBy(other.sides.ingress, one.remote)
  const passing = passingFlow([egress, ingress], flow)
  const asked = passing ?? flow
  return { allowed: passing !== undefined, egress: sideVerdict(egress, asked), ingress: sideVerdict(ingress, asked) }
}

/** What a node decides by itself: whether its own policies allow a flow from (`ingress`) or to (`egress`) a peer. */
export function sideAllows(
  policies: readonly PolicyEntries[] | PreparedPolicies,
  remote: Remote,
  { direction, ...flow }: Flow & { readonly direction: Direction },
): SideVerdict {
  const sides = 'ingress' in policies ? policies : preparePolicies(policies)
  return sideVerdict(acceptedBy(sides[direction], prepareRemote(remote)), flow)
}

/** The destination ports of each protocol that pass from one node to another, merged; that of ICMP stands for all of it. */
export type PassingFlows = Readonly<Record<FlowProtocol, readonly PortRange[]>>

const EVERY_FLOW: PassingFlows = { tcp: [WHOLE_RANGE.tcp], udp: [WHOLE_RANGE.udp], icmp: [WHOLE_RANGE.icmp] }
const NO_FLOW: PassingFlows = { tcp: [], udp: [], icmp: [] }

/** What passes from one node to another. Where neither end is isolated the answer is always the same object. */
export function passingFlows(from: PreparedParty, to: PreparedParty): PassingFlows {
  const [egress, ingress] = [acceptedBy(from.sides.egress, to.remote), acceptedBy(to.sides.ingress, from.remote)]
  if (egress.isolatedBy === undefined && ingress.isolatedBy === undefined) return EVERY_FLOW
  if (isClosed(egress) || isClosed(ingress)) return NO_FLOW
  const rangesOf = (protocol: FlowProtocol): readonly PortRange[] =>
    acceptedRanges(egress, protocol, WHOLE_RANGE[protocol]).flatMap((range) => acceptedRanges(ingress, protocol, range))
  return { tcp: rangesOf('tcp'), udp: rangesOf('udp'), icmp: rangesOf('icmp') }
}

/** Whether some flow is among `flows` and not among `others`. */
export function passesBeyond(flows: PassingFlows, others: PassingFlows): boolean {
  if (flows === others) return false
  // Merged ranges do not touch: a range whose ports are all among the others is within one of them.
  return FLOW_PROTOCOLS.some((protocol) =>
    flows[protocol].some(([first, last]) => !others[protocol].some(([from, to]) => from <= first && last <= to)),
  )
}

/** Whether some flow passes between two nodes in at least one direction. */
export function mayExchange(one: Party | PreparedParty, other: Party | PreparedParty): boolean {
  const [first, second] = [prepared(one), prepared(other)]
  return maySend(first, second) || maySend(second, first)
}

function maySend(from: PreparedParty, to: PreparedParty): boolean {
  const [egress, ingress] = [from.sides.egress, to.sides.ingress]
  // The usual case, without an allocation.
  if (egress.isolatedBy === undefined && ingress.isolatedBy === undefined) return true
  const sent = acceptedBy(egress, to.remote)
  if (isClosed(sent)) return false
  return passingFlow([sent, acceptedBy(ingress, from.remote)], {}) !== undefined
}

function prepared(party: Party | PreparedParty): PreparedParty {
  return 'sides' in party ? party : prepareParty(party)
}

/** The rules of a side that cover the remote end. */
interface AcceptedSide {
  readonly isolatedBy: EntryRef | undefined
  readonly rules: readonly PreparedRule[]
}

const NO_RULES: readonly PreparedRule[] = []

function acceptedBy(side: PreparedSide, remote: PreparedRemote): AcceptedSide {
  const { isolatedBy } = side
  return { isolatedBy, rules: isolatedBy === undefined ? NO_RULES : coveringRules(side, remote) }
}

/** The flow with protocol and lowest port that both sides let pass, of the first protocol that has one. */
function passingFlow([one, other]: readonly [AcceptedSide, AcceptedSide], flow: Flow): Flow | undefined {
  if (isClosed(one) || isClosed(other)) return undefined
  for (const protocol of protocolsOf(flow)) {
    const range = rangeOf(protocol, flow)
    const port = commonPort(acceptedRanges(one, protocol, range), acceptedRanges(other, protocol, range))
    if (port !== undefined) return { protocol, port }
  }
  return undefined
}

function isClosed({ isolatedBy, rules }: AcceptedSide): boolean {
  return isolatedBy !== undefined && rules.length === 0
}

const WITH_PORTS: readonly FlowProtocol[] = ['tcp', 'udp']
const ALONE: Readonly<Record<FlowProtocol, readonly FlowProtocol[]>> = { tcp: ['tcp'], udp: ['udp'], icmp: ['icmp'] }

function protocolsOf({ protocol, port }: Flow): readonly FlowProtocol[] {
  if (protocol !== undefined) return ALONE[protocol]
  return port === undefined ? FLOW_PROTOCOLS : WITH_PORTS
}

function rangeOf(protocol: FlowProtocol, { port }: Flow): PortRange {
  return port === undefined || protocol === 'icmp' ? WHOLE_RANGE[protocol] : [port, port]
}

/** The ports within the range that the side lets pass, merged. */
function acceptedRanges(
  { isolatedBy, rules }: AcceptedSide,
  protocol: FlowProtocol,
  [first, last]: PortRange,
): readonly PortRange[] {
  if (isolatedBy === undefined) return [[first, last]]
  const accepted: PortRange[] = []
  for (const rule of rules) {
    for (const [from, to] of rule.ranges[protocol] ?? []) {
      if (from <= first && to >= last) return [[first, last]]
      if (from <= last && to >= first) accepted.push([Math.max(from, first), Math.min(to, last)])
    }
  }
  return mergeRanges(accepted)
}

function sideVerdict({ isolatedBy, rules }: AcceptedSide, flow: Flow): SideVerdict {
  if (isolatedBy === undefined) return { isolated: false, allowed: true }
  let first: PreparedRule | undefined
  for (const rule of rules) {
    if ((first === undefined || rule.order < first.order) && accepts(rule, flow)) first = rule
  }
  return { isolated: true, allowed: first !== undefined, by: first?.ref ?? isolatedBy }
}

function accepts({ ranges }: PreparedRule, flow: Flow): boolean {
  return protocolsOf(flow).some((protocol) => {
    const [first, last] = rangeOf(protocol, flow)
    return ranges[protocol]?.some(([from, to]) => from <= last && to >= first) ?? false
  })
}
