import { parseAddress, type AddressWords } from '../networks/cidr.ts'
import { mayHaveGroup } from './group-filter.ts'
import { isInNetworks, takeOwners } from './network-set.ts'
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
  const named: PreparedRule[] = []
  const { filter, byGroup } = side
  takeRules(named, byGroup.get(EVERY_NODE_GROUP))
  for (const group of remote.groups) if (mayHaveGroup(filter, group)) takeRules(named, byGroup.get(group))
  takeOwners(named, side.byAddress, remote.address)
  return named.length === 0 ? named : named.filter((rule) => !isExcepted(rule, remote))
}

function takeRules(named: PreparedRule[], rules: readonly PreparedRule[] | undefined): void {
  if (rules !== undefined) for (const rule of rules) named.push(rule)
}

function isExcepted({ exceptGroups, exceptNetworks }: PreparedRule, { groups, address }: PreparedRemote): boolean {
  for (const group of exceptGroups) if (groups.includes(group)) return true
  return exceptNetworks !== undefined && isInNetworks(exceptNetworks, address)
}
