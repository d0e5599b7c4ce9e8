import { hostAddressOf, isPeerAddress, readPeerSubnet } from '../../../../shared/bridges/peer-subnet.ts'
import { parseCidr } from '../../../../shared/networks/cidr.ts'
import { CliError } from '../../../errors/cli-error.ts'
import { EXIT } from '../../../errors/exit-code.ts'

/** The largest network that a mesh may have: agents refuse a larger one, too. */
const SHORTEST_PREFIX = 8

/**
 * What the device sends through the tunnel: packets for the mesh, and for the hosts, which answer with their own address of the subnet
 * where a packet is too large or refused.
 *
 * @throws CliError where the server answers anything but such networks: `wg-quick` runs commands that its file names.
 */
export function allowedIpsOf(meshCidr: string, peerSubnet: string): readonly string[] {
  const [mesh, subnet] = [parseCidr(meshCidr), readPeerSubnet(peerSubnet)]
  if (!mesh.ok || mesh.cidr.words.length !== 1 || Number(mesh.cidr.text.split('/')[1]) < SHORTEST_PREFIX)
    throw malformed('the mesh', 'a network of IPv4 addresses', ['Nothing was changed.'])
  if (!subnet.ok) throw malformed('the subnet of the provider', 'a network of IPv4 addresses', ['Nothing was changed.'])
  return [mesh.cidr.text, `${hostAddressOf(subnet.text)}/32`]
}

/** The address that the server gave a peer. @throws CliError where it is none of the subnet. */
export function checkedAddress(address: string, peerSubnet: string): string {
  if (isPeerAddress(peerSubnet, address)) return address
  throw malformed('the new peer', 'an address of its subnet', [
    'The peer is registered: remove it with "ctl bridge user-access peers remove".',
  ])
}

function malformed(what: string, missing: string, hints: readonly string[]): CliError {
  return new CliError(`the server's answer about ${what} is not ${missing}`, {
    exitCode: EXIT.failed,
    code: 'malformed_answer',
    hints,
  })
}
