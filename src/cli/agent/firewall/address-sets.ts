import { outermost } from '../../../shared/bridges/subnet.ts'
import { parseCidr } from '../../../shared/networks/cidr.ts'
import { EVERY_NODE_GROUP } from '../../../shared/policies/rule-types.ts'
import type { FirewallPeer } from './firewall-view.ts'

/** The address families of rules, with what nftables calls them. */
export const FAMILIES = [
  { family: 'ipv4', protocol: 'ip', type: 'ipv4_addr', prefix: 'g4_', networkPrefix: 'n4_', wordCount: 1 },
  { family: 'ipv6', protocol: 'ip6', type: 'ipv6_addr', prefix: 'g6_', networkPrefix: 'n6_', wordCount: 4 },
] as const
export type AddressFamily = (typeof FAMILIES)[number]

/** Addresses, or networks, by the name of their set. */
export type AddressSets = ReadonlyMap<string, ReadonlySet<string>>

/** The name of the set that has the addresses of a group's peers. */
export function setName({ prefix }: AddressFamily, group: number): string {
  return `${prefix}${group}`
}

/** The name of the set that has the networks behind a group's peers. */
export function networkSetName({ networkPrefix }: AddressFamily, group: number): string {
  return `${networkPrefix}${group}`
}

/** The canonical text of an address, and its family; undefined where the text is no address. */
export function canonicalAddress(
  text: string,
): { readonly address: string; readonly family: AddressFamily } | undefined {
  const family = FAMILIES[text.includes(':') ? 1 : 0]
  const suffix = `/${family.wordCount * 32}`
  const read = parseCidr(`${text}${suffix}`)
  return read.ok ? { address: read.cidr.text.slice(0, -suffix.length), family } : undefined
}

/** The families that addresses of peers have; IPv4 also where no peer is known. */
export function familiesOf(peers: readonly FirewallPeer[]): readonly AddressFamily[] {
  const hasV6 = peers.some(({ address }) => canonicalAddress(address)?.family === FAMILIES[1])
  return hasV6 ? FAMILIES : [FAMILIES[0]]
}

/** The families of the networks behind peers. */
export function networkFamiliesOf(peers: readonly FirewallPeer[]): readonly AddressFamily[] {
  return FAMILIES.filter((family) => peers.some(({ subnets = [] }) => networksOf(subnets, family).length > 0))
}

/** The sets of these groups, empty ones included. Group 0 has all peers. */
export function addressSetsOf(peers: readonly FirewallPeer[], groups: ReadonlySet<number>): AddressSets {
  return new Map([...peerSetsOf(peers, groups), ...networkSetsOf(peers, groups)])
}

function peerSetsOf(peers: readonly FirewallPeer[], groups: ReadonlySet<number>): AddressSets {
  const sets = new Map<string, Set<string>>()
  for (const family of familiesOf(peers)) for (const group of groups) sets.set(setName(family, group), new Set())
  for (const { address: text, groups: own } of peers) {
    const read = canonicalAddress(text)
    if (read === undefined) continue
    for (const group of [EVERY_NODE_GROUP, ...own]) sets.get(setName(read.family, group))?.add(read.address)
  }
  return sets
}

/** The sets of networks behind the peers of these groups: of a family only where a peer has such a network. */
function networkSetsOf(peers: readonly FirewallPeer[], groups: ReadonlySet<number>): AddressSets {
  const sets = new Map<string, ReadonlySet<string>>()
  for (const family of networkFamiliesOf(peers)) {
    for (const group of groups) {
      const members = peers.filter((peer) => group === EVERY_NODE_GROUP || peer.groups.includes(group))
      const networks = members.flatMap(({ subnets = [] }) => networksOf(subnets, family))
      // The elements of an interval set must not overlap.
      sets.set(networkSetName(family, group), new Set(outermost(networks)))
    }
  }
  return sets
}

/** The canonical networks of a family. One of all addresses is left out: a set cannot have it, and no peer may have it. */
function networksOf(subnets: readonly string[], { wordCount }: AddressFamily): readonly string[] {
  return subnets.flatMap((text) => {
    const read = parseCidr(text)
    const isTaken = read.ok && read.cidr.words.length === wordCount && read.cidr.masks[0] !== 0
    return isTaken ? [read.cidr.text] : []
  })
}

/** A set whose addresses changed. */
export interface SetChange {
  readonly name: string
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** How sets of the same names differ. */
export function setChanges(before: AddressSets, after: AddressSets): readonly SetChange[] {
  const changes: SetChange[] = []
  for (const [name, addresses] of after) {
    const known = before.get(name) ?? new Set()
    const added = [...addresses].filter((address) => !known.has(address))
    const removed = [...known].filter((address) => !addresses.has(address))
    if (added.length > 0 || removed.length > 0) changes.push({ name, added, removed })
  }
  return changes
}
