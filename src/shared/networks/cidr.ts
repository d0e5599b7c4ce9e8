/** An address as 32-bit words, most significant first: one for IPv4, four for IPv6. */
export type AddressWords = readonly number[]

/** A range of addresses: its words and one mask for each. Host bits are zero. */
export interface Cidr {
  readonly words: AddressWords
  readonly masks: AddressWords
  /** The canonical text (RFC 5952 for IPv6). */
  readonly text: string
}

/** Why a text is no CIDR of a rule. */
export type CidrFault = 'malformed' | 'no_prefix' | 'host_bits' | 'mapped'

export type ReadCidr = { readonly ok: true; readonly cidr: Cidr } | { readonly ok: false; readonly fault: CidrFault }

const V4_PART = /^(?:0|[1-9]\d{0,2})$/
const V6_GROUP = /^[0-9a-f]{1,4}$/i
const PREFIX = /^(?:0|[1-9]\d{0,2})$/

/** Reads an IPv4 or IPv6 address without a zone; undefined if the text is something else. */
export function parseAddress(text: string): AddressWords | undefined {
  return text.includes(':') ? parseV6(text) : parseV4(text)
}

/** Reads `address/prefix length` with host bits zero. IPv4-mapped IPv6 is refused: it would be a second spelling of IPv4. */
export function parseCidr(text: string): ReadCidr {
  const slash = text.indexOf('/')
  const address = slash === -1 ? text : text.slice(0, slash)
  const words = parseAddress(address)
  if (words === undefined) return { ok: false, fault: 'malformed' }
  if (slash === -1) return { ok: false, fault: 'no_prefix' }
  const length = text.slice(slash + 1)
  if (!PREFIX.test(length) || Number(length) > words.length * 32) return { ok: false, fault: 'malformed' }
  const masks = masksOf(Number(length), words.length)
  if (words.some((word, index) => (word & ~(masks[index] ?? 0)) !== 0)) return { ok: false, fault: 'host_bits' }
  if (isMapped(words, Number(length))) return { ok: false, fault: 'mapped' }
  return { ok: true, cidr: { words, masks, text: `${addressText(words)}/${length}` } }
}

/** Whether the range contains the address. An IPv4 range contains no IPv6 address and vice versa. */
export function containsAddress({ words, masks }: Cidr, address: AddressWords): boolean {
  if (words.length !== address.length) return false
  for (let index = 0; index < words.length; index += 1) {
    if ((((address[index] ?? 0) ^ (words[index] ?? 0)) & (masks[index] ?? 0)) !== 0) return false
  }
  return true
}

function parseV4(text: string): AddressWords | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => V4_PART.test(part) && Number(part) <= 255)) return undefined
  return [parts.reduce((word, part) => ((word << 8) | Number(part)) >>> 0, 0)]
}

function parseV6(text: string): AddressWords | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head = [], tail] = halves.map((half, index) => groupsOf(half, index === halves.length - 1))
  if (head === 'malformed' || tail === 'malformed') return undefined
  if (tail === undefined) return head.length === 8 ? wordsOf(head) : undefined
  const missing = 8 - head.length - tail.length
  if (missing < 1) return undefined
  return wordsOf([...head, ...Array.from({ length: missing }, () => 0), ...tail])
}

/** The 16-bit groups of a part between double colons. Only the last one may end in an IPv4 address. */
function groupsOf(half: string, isLast: boolean): readonly number[] | 'malformed' {
  if (half === '') return []
  const parts = half.split(':')
  const last = parts.at(-1) ?? ''
  const embedded = isLast && last.includes('.') ? parseV4(last)?.[0] : undefined
  const plain = embedded === undefined ? parts : parts.slice(0, -1)
  if (!plain.every((part) => V6_GROUP.test(part))) return 'malformed'
  const groups = plain.map((part) => Number.parseInt(part, 16))
  return embedded === undefined ? groups : [...groups, embedded >>> 16, embedded & 0xffff]
}

function wordsOf(groups: readonly number[]): AddressWords {
  return [0, 2, 4, 6].map((index) => (((groups[index] ?? 0) << 16) | (groups[index + 1] ?? 0)) >>> 0)
}

function masksOf(length: number, count: number): AddressWords {
  return Array.from({ length: count }, (_, index) => {
    const bits = Math.min(32, Math.max(0, length - index * 32))
    // A shift by 32 is a shift by 0 in ECMAScript.
    return bits === 0 ? 0 : (-1 << (32 - bits)) >>> 0
  })
}

/** Whether the whole range is within ::ffff:0:0/96. */
function isMapped(words: AddressWords, length: number): boolean {
  return words.length === 4 && length >= 96 && words[0] === 0 && words[1] === 0 && words[2] === 0xffff
}

/** The canonical text of an address (RFC 5952 for IPv6). */
export function addressText(words: AddressWords): string {
  const [first = 0] = words
  if (words.length === 1) return [24, 16, 8, 0].map((shift) => (first >>> shift) & 255).join('.')
  const groups = words.flatMap((word) => [word >>> 16, word & 0xffff])
  const { at, length } = longestZeros(groups)
  const hex = groups.map((group) => group.toString(16))
  if (length < 2) return hex.join(':')
  return `${hex.slice(0, at).join(':')}::${hex.slice(at + length).join(':')}`
}

/** The first of the longest runs of zero groups (RFC 5952 §4.2). */
function longestZeros(groups: readonly number[]): { readonly at: number; readonly length: number } {
  let longest = { at: 0, length: 0 }
  let length = 0
  groups.forEach((group, index) => {
    length = group === 0 ? length + 1 : 0
    if (length > longest.length) longest = { at: index + 1 - length, length }
  })
  return longest
}
