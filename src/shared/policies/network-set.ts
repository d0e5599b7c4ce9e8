import { containsAddress, type AddressWords, type Cidr } from '../networks/cidr.ts'

/** Networks that addresses are looked up in. */
export interface NetworkSet {
  /** Words and masks of the IPv4 networks, in turns: a flat list is read several times faster than objects. */
  readonly v4: Int32Array
  readonly v6: readonly Cidr[]
}

export function networkSetOf(cidrs: readonly Cidr[]): NetworkSet {
  const [v4, v6] = [cidrs.filter(({ words }) => words.length === 1), cidrs.filter(({ words }) => words.length > 1)]
  return { v4: Int32Array.from(v4.flatMap(({ words, masks }) => [...words, ...masks])), v6 }
}

/** Whether one of the networks contains the address. */
export function isInNetworks({ v4, v6 }: NetworkSet, address: AddressWords): boolean {
  if (address.length !== 1) return v6.some((cidr) => containsAddress(cidr, address))
  const [word = 0] = address
  for (let index = 0; index < v4.length; index += 2) {
    if (((word ^ (v4[index] ?? 0)) & (v4[index + 1] ?? 0)) === 0) return true
  }
  return false
}

/** Networks of a side with the rule that each belongs to. */
export interface OwnedNetworks<Owner> {
  readonly v4: Int32Array
  readonly v4Owners: readonly Owner[]
  readonly v6: readonly { readonly cidr: Cidr; readonly owner: Owner }[]
}

export function ownedNetworks<Owner>(networks: OwnedNetworks<Owner>['v6']): OwnedNetworks<Owner> {
  const v4 = networks.filter(({ cidr }) => cidr.words.length === 1)
  return {
    v4: networkSetOf(v4.map(({ cidr }) => cidr)).v4,
    v4Owners: v4.map(({ owner }) => owner),
    v6: networks.filter(({ cidr }) => cidr.words.length > 1),
  }
}

/** Appends the owner of each network that contains the address. */
export function takeOwners<Owner>(
  taken: Owner[],
  { v4, v4Owners, v6 }: OwnedNetworks<Owner>,
  address: AddressWords,
): void {
  if (address.length !== 1) {
    for (const { cidr, owner } of v6) if (containsAddress(cidr, address)) taken.push(owner)
    return
  }
  const [word = 0] = address
  for (let index = 0; index < v4.length; index += 2) {
    if (((word ^ (v4[index] ?? 0)) & (v4[index + 1] ?? 0)) !== 0) continue
    const owner = v4Owners[index >> 1]
    if (owner !== undefined) taken.push(owner)
  }
}
