import { parseCidr, type AddressWords, type Cidr } from '../../../shared/networks/cidr.ts'
import { mergeRanges } from '../../../shared/policies/ports.ts'
import type { AcceptEntry, Direction, PortRange } from '../../../shared/policies/rule-types.ts'
import { FAMILIES, networkSetName, setName, type AddressFamily } from './address-sets.ts'
import type { PlannedAccept } from './filter-plan.ts'
import { ACCEPT, countedBy, differs, equals, meta, oneOf, payload, type NftRule, type NftValue } from './nft-json.ts'

/** Where the address of the remote end is, by direction. */
const REMOTE_FIELD: Readonly<Record<Direction, string>> = { ingress: 'saddr', egress: 'daddr' }

/**
 * The rules of an accept entry: one for each of its groups, one for the networks behind the peers of each, and one for its
 * networks, of either address family.
 */
export function acceptRules(
  planned: PlannedAccept,
  { meshFamilies, networkFamilies }: FamiliesOfSets,
): readonly NftRule[] {
  const { accept, direction, counter } = planned
  return FAMILIES.flatMap((family) => {
    const remote = payload(family.protocol, REMOTE_FIELD[direction])
    const sets = { family, isMesh: meshFamilies.includes(family), hasNetworks: networkFamilies.includes(family) }
    const exceptions = exceptionsOf(accept, remote, sets)
    if (exceptions === undefined) return []
    return coverings(accept, remote, sets).map((covering) => [
      // A comparison costs less than a search in a set.
      ...protocolMatches(accept),
      covering,
      ...exceptions,
      countedBy(counter),
      ACCEPT,
    ])
  })
}

/** For which families there are sets. */
export interface FamiliesOfSets {
  /** Those that addresses of peers have. */
  readonly meshFamilies: readonly AddressFamily[]
  /** Those that networks behind peers have. */
  readonly networkFamilies: readonly AddressFamily[]
}

interface FamilyOfRule {
  readonly family: AddressFamily
  readonly isMesh: boolean
  readonly hasNetworks: boolean
}

/** The sets of groups, as nftables refers to them. */
function setsOf(groups: readonly number[], { family, isMesh, hasNetworks }: FamilyOfRule): readonly string[] {
  return groups.flatMap((group) => [
    ...(isMesh ? [`@${setName(family, group)}`] : []),
    ...(hasNetworks ? [`@${networkSetName(family, group)}`] : []),
  ])
}

/** Matches that each cover a part of the remote ends. */
function coverings({ groups, cidrs }: AcceptEntry, remote: NftValue, ofRule: FamilyOfRule): readonly NftValue[] {
  const { family } = ofRule
  const sets = setsOf(groups, ofRule).map((set) => equals(remote, set))
  const networks = networksOf(cidrs, family)
  if (networks.length === 0) return sets
  return [...sets, isWhole(networks) ? equals(meta('nfproto'), family.family) : equals(remote, prefixes(networks))]
}

/** Matches that leave out the exceptions; undefined where they leave no address of the family. */
function exceptionsOf(
  { except_groups: exceptGroups, except_cidrs: exceptCidrs }: AcceptEntry,
  remote: NftValue,
  ofRule: FamilyOfRule,
): readonly NftValue[] | undefined {
  const sets = setsOf(exceptGroups, ofRule).map((set) => differs(remote, set))
  const networks = networksOf(exceptCidrs, ofRule.family)
  if (networks.length === 0) return sets
  return isWhole(networks) ? undefined : [...sets, differs(remote, prefixes(networks))]
}

/** The networks of a family, without those that another one contains: the elements of a set must not overlap. */
export function networksOf(texts: readonly string[], { wordCount }: AddressFamily): readonly Cidr[] {
  const networks = texts.flatMap((text) => {
    const read = parseCidr(text)
    return read.ok && read.cidr.words.length === wordCount ? [read.cidr] : []
  })
  const kept: Cidr[] = []
  for (const cidr of networks.toSorted(byPlace)) {
    const last = kept.at(-1)
    if (last === undefined || !contains(last, cidr)) kept.push(cidr)
  }
  return kept
}

/** By the first address; of networks that share it the largest comes first. So a network comes after those that contain it. */
function byPlace(one: Cidr, other: Cidr): number {
  return difference(one.words, other.words) || difference(one.masks, other.masks)
}

function difference(words: AddressWords, others: AddressWords): number {
  const index = words.findIndex((word, at) => word !== others[at])
  return (words[index] ?? 0) - (others[index] ?? 0)
}

/** Two networks are disjoint, or one contains the other. */
function contains(network: Cidr, other: Cidr): boolean {
  return network.masks.every((mask, index) => {
    const [own = 0, others = 0] = [network.words[index], other.words[index]]
    return ((own ^ others) & mask) === 0 && (mask & ~(other.masks[index] ?? 0)) === 0
  })
}

/** Whether the networks are all addresses: an interval set cannot have this element. */
function isWhole(networks: readonly Cidr[]): boolean {
  return networks.some(({ masks }) => masks[0] === 0)
}

export function prefixes(networks: readonly Cidr[]): NftValue {
  return oneOf(
    networks.map(({ text }) => {
      const [addr = '', length] = text.split('/')
      return { prefix: { addr, len: Number(length) } }
    }),
  )
}

function protocolMatches({ protocol, ports }: AcceptEntry): readonly NftValue[] {
  if (protocol === 'any') return []
  if (protocol === 'icmp') return [equals(meta('l4proto'), oneOf(['icmp', 'ipv6-icmp']))]
  if (ports.length === 0) return [equals(meta('l4proto'), protocol)]
  return [equals(payload(protocol, 'dport'), oneOf(mergeRanges(ports).map(portOrRange)))]
}

function portOrRange([from, to]: PortRange): NftValue {
  return from === to ? from : { range: [from, to] }
}
