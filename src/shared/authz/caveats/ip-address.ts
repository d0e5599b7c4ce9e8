/** An address, or a network when `bits` says how many leading bits of it count. */
export interface IpAddress {
  /** 32 for IPv4, 128 for IPv6; addresses of IPv4 mapped into IPv6 are IPv6. */
  readonly width: 32 | 128
  readonly value: bigint
  /** `eth0` in `fe80::1%eth0`; empty for none. */
  readonly zone: string
}

/** Reads an address as Go's `netip.ParseAddr` does. Undefined when it is none. */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (!text.includes(':')) {
    const value = ipv4(text)
    return value === undefined ? undefined : { width: 32, value, zone: '' }
  }
  const percent = text.indexOf('%')
  const zone = percent < 0 ? '' : text.slice(percent + 1)
  if (percent >= 0 && zone === '') return undefined
  const value = ipv6(percent < 0 ? text : text.slice(0, percent))
  return value === undefined ? undefined : { width: 128, value, zone }
}

/** The canonical text of an address. */
export function ipAddressKey({ width, value, zone }: IpAddress): string {
  return `${width}/${value}/${zone}`
}

/** The address of a key. */
export function ipAddressOfKey(key: string): IpAddress {
  const [width = '', value = '0', ...zone] = key.split('/')
  return { width: width === '32' ? 32 : 128, value: BigInt(value), zone: zone.join('/') }
}

/**
 * Whether the network, `address/bits`, contains the address; undefined when it is no network. As in Go, an address of
 * IPv4 mapped into IPv6 is in no network of IPv4, and an address with a zone is in none at all.
 */
export function isInNetwork(address: IpAddress, network: string): boolean | undefined {
  const slash = network.lastIndexOf('/')
  const base = slash < 0 ? undefined : parseIpAddress(network.slice(0, slash))
  const bits = network.slice(slash + 1)
  if (base === undefined || base.zone !== '' || !/^(?:0|[1-9]\d{0,2})$/.test(bits)) return undefined
  if (Number(bits) > base.width) return undefined
  if (address.width !== base.width || address.zone !== '') return false
  const shift = BigInt(base.width - Number(bits))
  return address.value >> shift === base.value >> shift
}

function ipv4(text: string): bigint | undefined {
  const parts = text.split('.')
  const isAddress = parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)
  return isAddress ? parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n) : undefined
}

function ipv6(text: string): bigint | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const groups = halves.map((half, at) => groupsOf(half, at === halves.length - 1))
  const [head, tail = []] = groups
  if (head === undefined || groups.includes(undefined)) return undefined
  const missing = 8 - head.length - (tail?.length ?? 0)
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined
  return [...head, ...Array<bigint>(missing).fill(0n), ...(tail ?? [])].reduce(
    (value, group) => (value << 16n) | group,
    0n,
  )
}

/** The groups of 16 bits of one side of `::`; the last two may be spelt as IPv4. */
function groupsOf(text: string, isLast: boolean): bigint[] | undefined {
  if (text === '') return []
  const parts = text.split(':')
  const embedded = isLast && parts.at(-1)?.includes('.') ? ipv4(parts.pop() ?? '') : 0n
  if (embedded === undefined || !parts.every((part) => /^[\da-f]{1,4}$/i.test(part))) return undefined
  const groups = parts.map((part) => BigInt(`0x${part}`))
  return isLast && text.includes('.') ? [...groups, embedded >> 16n, embedded & 0xffffn] : groups
}
