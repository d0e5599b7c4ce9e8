import { overlaps, spanOf } from '../../../../shared/bridges/subnet.ts'
import { parseCidr } from '../../../../shared/networks/cidr.ts'
import { isInside, type MachineAddresses } from '../../server-answers/mesh-network.ts'

const PARTS = [
  ['gateways', 'the gateway of a default route'],
  ['uplinks', 'an address of this machine'],
  ['resolvers', 'a name server of this machine'],
  ['servers', 'the server'],
] as const

/** Why devices of people cannot have addresses of the subnet here: a route to it would take something away from this machine. */
export function subnetFault(
  subnet: string,
  machine: Pick<MachineAddresses, (typeof PARTS)[number][0]>,
  meshCidr: string | undefined,
): string | undefined {
  const read = parseCidr(subnet)
  if (!read.ok) return 'its subnet is malformed'
  if (meshCidr !== undefined && overlaps(spanOf(subnet), spanOf(meshCidr)))
    return `its subnet ${subnet} overlaps the mesh, ${meshCidr}`
  for (const [part, what] of PARTS) {
    const found = machine[part].find((address) => isInside(address, read.cidr))
    if (found !== undefined) return `its subnet ${subnet} has ${what} in it: ${found}`
  }
  return undefined
}
