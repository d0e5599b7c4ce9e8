import { parseAddress, parseCidr } from '../../../shared/networks/cidr.ts'
import { preparePolicies, type PreparedPolicies } from '../../../shared/policies/prepare-policies.ts'
import type { CompiledEntry } from '../../../shared/policies/rule-types.ts'
import { prepareParty, verdictOf, type Flow, type PreparedParty } from '../../../shared/policies/verdict.ts'
import { groupsOf } from '../../policies/nodes-store.ts'
import type { NodeParty } from './parties-store.ts'

/** A policy that indexes of `NodeParty.policies` name. */
export interface ClassedPolicy {
  readonly id: string
  readonly entries: readonly CompiledEntry[]
}

/** Nodes that no verdict tells apart: the same policies, the same groups, addresses in the same networks of rules. */
export interface NodeClass {
  /** Its index in the list of classes. */
  readonly index: number
  readonly party: PreparedParty
  /** By id. */
  readonly nodes: readonly NodeParty[]
}

/** Nodes in classes. */
export interface ClassedNodes {
  readonly classes: readonly NodeClass[]
  classOf(nodeId: string): NodeClass | undefined
}

/** Puts nodes into classes: a Domain of ten thousand nodes has some hundred. */
export function classifyNodes(nodes: readonly NodeParty[], policies: readonly ClassedPolicy[]): ClassedNodes {
  const placeOf = createPlaces(policies)
  const byKey = new Map<string, NodeParty[]>()
  for (const node of nodes) {
    const key = `${node.policies}|${node.groups}|${placeOf(node.meshAddress)}`
    const same = byKey.get(key)
    if (same === undefined) byKey.set(key, [node])
    else same.push(node)
  }
  const sidesOf = createSides(policies)
  const classes = Array.from(byKey.values(), (members, index) => classOf(members, { index, sidesOf }))
  const byNode = new Map<string, NodeClass>()
  for (const one of classes) for (const { id } of one.nodes) byNode.set(id, one)
  return { classes, classOf: (nodeId) => byNode.get(nodeId) }
}

function classOf(
  nodes: readonly NodeParty[],
  { index, sidesOf }: { readonly index: number; readonly sidesOf: (policies: string) => PreparedPolicies },
): NodeClass {
  const [first] = nodes
  if (first === undefined) throw new Error('a class has no node')
  const { groups, meshAddress, policies } = first
  return {
    index,
    nodes,
    party: prepareParty({ policies: [], groups: groupsOf(groups), meshAddress }, sidesOf(policies)),
  }
}

/** Prepares each set of policies once. */
function createSides(policies: readonly ClassedPolicy[]): (indexes: string) => PreparedPolicies {
  const prepared = new Map<string, PreparedPolicies>()
  return (indexes) => {
    const known = prepared.get(indexes)
    if (known !== undefined) return known
    const named = policiesAt(indexes).map((index) => policies[index])
    const sides = preparePolicies(
      named.flatMap((policy) => (policy === undefined ? [] : [{ policyId: policy.id, entries: policy.entries }])),
    )
    prepared.set(indexes, sides)
    return sides
  }
}

/** The indexes of that text. */
export function policiesAt(text: string): number[] {
  return text === '' ? [] : text.split(',').map(Number)
}

/**
 * Numbers the stretches of IPv4 addresses between the ends of the networks of rules: all addresses of a stretch are in the
 * same networks. Addresses of nodes are of IPv4.
 */
function createPlaces(policies: readonly ClassedPolicy[]): (address: string) => number {
  const networks = new Set(
    policies.flatMap(({ entries }) =>
      entries.flatMap((entry) => (entry.action === 'accept' ? [...entry.cidrs, ...entry.except_cidrs] : [])),
    ),
  )
  const ends = [...new Set(Array.from(networks).flatMap(endsOf))].toSorted((a, b) => a - b)
  if (ends.length === 0) return () => 0
  return (address) => {
    const [word = 0] = parseAddress(address) ?? []
    return countUpTo(ends, word >>> 0)
  }
}

/** The first address of a network, and the first one behind it. */
function endsOf(text: string): number[] {
  const read = parseCidr(text)
  if (!read.ok || read.cidr.words.length !== 1) return []
  const [word = 0] = read.cidr.words
  const [mask = 0] = read.cidr.masks
  return [word >>> 0, (word >>> 0) + (~mask >>> 0) + 1]
}

/** How many of the sorted numbers are at most that one. */
function countUpTo(sorted: readonly number[], number: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0) <= number) low = middle + 1
    else high = middle
  }
  return low
}

/** Most classes whose verdicts are remembered: a byte for each pair. */
const REMEMBERED_MAX = 3_000

/** Says whether a flow passes from nodes of one class to nodes of another. Remembers what it has decided. */
export function createFlowVerdicts(
  { classes: { length } }: ClassedNodes,
  flow: Flow,
): (from: NodeClass, to: NodeClass) => boolean {
  const decide = (from: NodeClass, to: NodeClass) => verdictOf(from.party, to.party, flow).allowed
  if (length > REMEMBERED_MAX) return decide
  const decided = new Uint8Array(length * length)
  return (from, to) => {
    const place = from.index * length + to.index
    const known = decided[place]
    if (known !== undefined && known !== UNKNOWN) return known === PASSES
    const passes = decide(from, to)
    decided[place] = passes ? PASSES : IS_DROPPED
    return passes
  }
}

const UNKNOWN = 0
const PASSES = 1
const IS_DROPPED = 2
