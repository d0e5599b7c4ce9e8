import { parseAddress } from '../../../../../shared/networks/cidr.ts'
import { isInside, NEEDED_ADDRESSES } from '../../../server-answers/mesh-network.ts'
import type { Surroundings } from '../../../server-answers/subnet-fault.ts'

/**
 * Why this machine must not have the address that a secret gives it in the tunnel: packets for the address would stay here. Undefined
 * where it may. The sentence has no part of the secret.
 */
export function addressFault(
  address: string,
  { mesh: { cidr, ownAddress }, machine }: Pick<Surroundings, 'mesh' | 'machine'>,
): string | undefined {
  const isOfMesh = address === ownAddress || (cidr !== undefined && isInside(address, cidr))
  if (isOfMesh) return 'address of the secret is one of the mesh'
  const found = NEEDED_ADDRESSES.find(([part]) => machine[part].some((needed) => isSame(needed, address)))
  return found === undefined ? undefined : `address of the secret is ${found[1]}`
}

function isSame(one: string, other: string): boolean {
  return String(parseAddress(one)) === String(parseAddress(other))
}
