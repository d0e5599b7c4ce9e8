import { addressText, parseAddress } from '../networks/cidr.ts'
import { readSubnet, spanOf, type ReadSubnet } from './subnet.ts'

const PREFIX_MIN = 8
const PREFIX_MAX = 30
const RULE = `must be an IPv4 network with a prefix length of ${PREFIX_MIN} to ${PREFIX_MAX}, such as 10.99.0.0/24`
/** The address of the network, that of the hosts, and the broadcast address. */
const NOT_OF_PEERS = 3

/** Reads the network that the peers of a user-access provider have addresses of: its canonical text, or the rule that it breaks. */
export function readPeerSubnet(text: string): ReadSubnet {
  const read = readSubnet(text)
  if (!read.ok) return read
  const length = Number(read.text.replace(/^.*\//, ''))
  const fits = !read.text.includes(':') && length >= PREFIX_MIN && length <= PREFIX_MAX
  return fits ? read : { ok: false, rule: RULE }
}

/** The address of the hosts: the first one. */
export function hostAddressOf(subnet: string): string {
  return textOf(numberOfFirst(subnet) + 1)
}

/** How many peers the network has addresses for. */
export function peerCountOf(subnet: string): number {
  const { first, last } = spanOf(subnet)
  return Number(last - first) + 1 - NOT_OF_PEERS
}

/** Whether the network has this address for a peer. */
export function isPeerAddress(subnet: string, address: string): boolean {
  const [word] = parseAddress(address) ?? []
  if (word === undefined) return false
  const place = word - numberOfFirst(subnet)
  return place >= 2 && place <= peerCountOf(subnet) + 1
}

/** The lowest address for a peer that is not taken; undefined where all are. */
export function freePeerAddress(subnet: string, taken: ReadonlySet<string>): string | undefined {
  const first = numberOfFirst(subnet) + 2
  const count = peerCountOf(subnet)
  for (let place = 0; place < Math.min(count, taken.size + 1); place += 1) {
    const address = textOf(first + place)
    if (!taken.has(address)) return address
  }
  return undefined
}

function numberOfFirst(subnet: string): number {
  return Number(spanOf(subnet).first)
}

function textOf(word: number): string {
  return addressText([word])
}
