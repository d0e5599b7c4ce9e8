import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { formatEndpoint, isLocalHost, isUsableHost } from '../endpoints/endpoint-address.ts'
import { systemCode } from '../errors.ts'

/** An address of this machine, as the kernel would use it. */
export interface LocalAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** Any address that leads over the default route (RFC 5737). Nothing is sent to it. */
const ELSEWHERE = '192.0.2.1'
/** Reserved; a connected UDP socket only chooses a route. */
const DISCARD_PORT = 9

/**
 * The address from which this machine reaches the server; that of the default route where the server is on this machine. Undefined
 * where there is none that another machine could use. Sends nothing.
 */
export async function localAddressTowards(serverUrl: string): Promise<LocalAddress | undefined> {
  const host = new URL(serverUrl).hostname.replace(/^\[|\]$/g, '')
  try {
    const { address, family } = await lookup(host)
    return (await sourceTowards(address, family === 6 ? 6 : 4)) ?? (await sourceTowards(ELSEWHERE, 4))
  } catch (error) {
    if (systemCode(error) === '') throw error
    return undefined
  }
}

async function sourceTowards(target: string, family: 4 | 6): Promise<LocalAddress | undefined> {
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
  try {
    const connected = once(socket, 'connect')
    socket.connect(DISCARD_PORT, target)
    await connected
    const { address } = socket.address()
    return isUsable(address) ? { address, family } : undefined
  } catch (error) {
    if (['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EINVAL'].includes(systemCode(error))) return undefined
    throw error
  } finally {
    socket.close()
  }
}

/** The server takes no loopback and no zoned address as an endpoint. */
function isUsable(address: string): boolean {
  return !/^fe80:|%/i.test(address) && isUsableHost(address)
}

/** `address:port`, an IPv6 address in brackets. */
export function endpointOf({ address: host }: LocalAddress, port: number): string {
  return formatEndpoint({ host, port })
}

/** Whether other machines of the internet can send to that address first. A packet filter may still keep them from it. */
export function isPublic({ address }: LocalAddress): boolean {
  return !isLocalHost(address)
}
