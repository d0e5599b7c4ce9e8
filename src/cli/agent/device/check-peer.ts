import { parseCidr } from '../../../shared/networks/cidr.ts'
import { parseEndpoint } from '../endpoints/endpoint-address.ts'
import { deviceFault } from './device-fault.ts'
import type { DevicePeer } from './device.ts'
import { isKey, keyOfBase64 } from './keys.ts'

const PEER_KEEPALIVE_SECONDS_MAX = 65_535

/**
 * Refuses a peer that WireGuard would not take as it is written. Each of these texts ends up on a line of a protocol or a
 * configuration file.
 */
export function checkPeer(peer: DevicePeer): void {
  if (keyOfBase64(peer.publicKey) === undefined) throw refused('A public key', 'is not 32 bytes in base64')
  if (peer.presharedKey !== undefined && !isKey(peer.presharedKey)) {
    throw refused(`The preshared key of ${peer.publicKey}`, 'is not 32 bytes')
  }
  if (peer.endpoint !== undefined && parseEndpoint(peer.endpoint) === undefined) {
    throw refused(`The endpoint of ${peer.publicKey}`, 'is not address:port')
  }
  for (const cidr of peer.allowedIps) checkedCidr(cidr)
  if (!isCount(peer.keepaliveSeconds, PEER_KEEPALIVE_SECONDS_MAX)) {
    throw refused(`The keepalive interval of ${peer.publicKey}`, 'is not a number of seconds up to 65535')
  }
}

/** The canonical text of a CIDR. Refuses what is not `address/prefix length` with host bits zero. */
export function checkedCidr(text: string): string {
  const read = parseCidr(text)
  if (!read.ok) throw refused(JSON.stringify(text), 'is not a CIDR')
  return read.cidr.text
}

function isCount(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= max
}

function refused(what: string, why: string): Error {
  return deviceFault(`${what} ${why}; the WireGuard interface was not changed.`, { code: 'invalid_peer' })
}
