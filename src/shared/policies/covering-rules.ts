import { containsAddress, parseAddress, type AddressWords, type Cidr } from './cidr.ts'
import type { PreparedRule, PreparedSide } from './prepare-policies.ts'
import { EVERY_NODE_GROUP } from './rule-types.ts'

/** What a rule looks at in the remote end of a flow: a node of the Domain. */
export interface Remote {
  /** The groups whose selectors it matches, without group 0. */
  readonly groups: readonly number[]
  /** Its address in the mesh. One that cannot be read is in no network. */
  readonly meshAddress: string
}

/** A remote end with its address parsed. */
export interface PreparedRemote {
  readonly groups: readonly number[]
  readonly address: AddressWords
}

export function prepareRemote({ groups, meshAddress }: Remote): PreparedRemote {
  return { groups, address: parseAddress(meshAddress) ?? [] }
}

/** The rules of a side that cover the remote end: in no particular order, and some of them twice. */
export function coveringRules(side: PreparedSide, remote: PreparedRemote): readonly PreparedRule[] {
  const covering: PreparedRule[] = []
  const take = (rules: readonly PreparedRule[] | undefined): void => {
    if (rules === undefined) return
    for (const rule of rules) if (!isExcepted(rule, remote)) covering.push(rule)
  }
  take(side.byGroup.get(EVERY_NODE_GROUP))
  for (const group of remote.groups) if (group !== EVERY_NODE_GROUP) take(side.byGroup.get(group))
  for (const rule of side.byAddress) {
    if (contains(rule.cidrs, remote.address) && !isExcepted(rule, remote)) covering.push(rule)
  }
  return covering
}

function isExcepted({ exceptGroups, exceptCidrs }: PreparedRule, { groups, address }: PreparedRemote): boolean {
  for (const group of exceptGroups) if (groups.includes(group)) return true
  return contains(exceptCidrs, address)
}

function contains(cidrs: readonly Cidr[], address: AddressWords): boolean {
  for (const cidr of cidrs) if (containsAddress(cidr, address)) return true
  return false
}
