import { containsAddress, parseCidr, type AddressWords, type Cidr, type CidrFault } from '../networks/cidr.ts'

/** Networks that no tunnel leads to: loopback, link-local and multicast, of both families (RFC 6890). */
const NOT_ROUTED = ['127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '::1/128', 'fe80::/10', 'ff00::/8'].map(cidrOf)

export type ReadSubnet = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly rule: string }

/**
 * Reads a subnet of a tunnel: its canonical text, or the rule that it breaks, as `must …`. A larger network that contains
 * loopback, link-local or multicast addresses passes, as a default route does.
 */
export function readSubnet(text: string): ReadSubnet {
  const read = parseCidr(text)
  if (!read.ok) return { ok: false, rule: RULES[read.fault] }
  const isRouted = !NOT_ROUTED.some((network) => isInside(read.cidr, network))
  return isRouted
    ? { ok: true, text: read.cidr.text }
    : { ok: false, rule: 'must not be loopback, link-local or multicast' }
}

const RULES: Readonly<Record<CidrFault, string>> = {
  malformed: 'must be a network such as 10.20.0.0/16',
  no_prefix: 'must have a prefix length',
  host_bits: 'must have no host bits set',
  mapped: 'must be written as IPv4, not as IPv4-mapped IPv6',
}

/** Whether two networks have an address in common. Those of different families have none. */
export function overlaps(a: Span, b: Span): boolean {
  return a.family === b.family && a.first <= b.last && b.first <= a.last
}

/** Whether all addresses of a network are in another one. */
export function isWithin(inner: Span, outer: Span): boolean {
  return inner.family === outer.family && outer.first <= inner.first && inner.last <= outer.last
}

/** The networks without those that are inside of another one: a tunnel may list both, and claims the outer one. */
export function outermost(subnets: readonly string[]): readonly string[] {
  const spans = subnets.map((subnet) => ({ subnet, span: spanOf(subnet) }))
  const sorted = spans.toSorted((a, b) => compareSpans(a.span, b.span))
  const kept: typeof spans = []
  for (const each of sorted) {
    const last = kept.at(-1)
    if (last === undefined || !overlaps(last.span, each.span)) kept.push(each)
  }
  return kept.map(({ subnet }) => subnet)
}

/** Orders spans by family and first address, a larger one before those inside of it. */
function compareSpans(a: Span, b: Span): number {
  if (a.family !== b.family) return a.family - b.family
  if (a.first !== b.first) return a.first < b.first ? -1 : 1
  return a.last === b.last ? 0 : a.last > b.last ? -1 : 1
}

/** A network as a range of numbers. */
export interface Span {
  readonly family: 4 | 6
  readonly first: bigint
  readonly last: bigint
}

/** The first and the last address of a network. @throws Error where the text is no CIDR. */
export function spanOf(text: string): Span {
  const { words, masks } = cidrOf(text)
  const [word = 0] = words
  if (words.length === 1) return { family: 4, first: BigInt(word), last: BigInt((word | ~(masks[0] ?? 0)) >>> 0) }
  const first = numberOf(words)
  const size = numberOf(masks.map((mask) => ~mask >>> 0))
  return { family: 6, first, last: first + size }
}

function numberOf(words: AddressWords): bigint {
  return words.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n)
}

function cidrOf(text: string): Cidr {
  const read = parseCidr(text)
  if (!read.ok) throw new Error(`${text} is no CIDR`)
  return read.cidr
}

function isInside(inner: Cidr, outer: Cidr): boolean {
  return (
    containsAddress(outer, inner.words) &&
    outer.masks.every((mask, index) => ((inner.masks[index] ?? 0) & mask) >>> 0 === mask)
  )
}
