import { overlaps, spanOf, type Span } from '../../shared/bridges/subnet.ts'
import type { PartName, Tunnel } from './bridge-parts.ts'
import type { Conflict } from './bridge-world.ts'

/** A subnet of a tunnel, with the places that order conflicts. */
interface Claim {
  readonly span: Span
  readonly subnet: string
  /** Place of the tunnel. */
  readonly tunnel: number
  /** Place of the subnet in its tunnel. */
  readonly place: number
}

/** The subnets of a tunnel that overlap the mesh, in the order of the tunnel. */
export function meshConflicts(tunnel: Tunnel, meshCidr: string): readonly Conflict[] {
  const mesh = spanOf(meshCidr)
  return tunnel.allowed_subnets
    .filter((subnet) => overlaps(spanOf(subnet), mesh))
    .map((subnet) => ({ code: 'subnet_overlap_with_mesh', part: nameOf(tunnel), subnet }))
}

/** Pairs that are looked for: a bridge has so many only where nearly everything overlaps. */
const PAIRS_MAX = 20_000

/**
 * Finds the subnets that overlap an earlier tunnel, by the later tunnel's name: ordered by the earlier tunnel, then by the
 * subnet. Each subnet and each earlier tunnel are a pair once; of more than 20,000 pairs some are left out. Tunnels that
 * overlap nothing are absent.
 */
export function tunnelConflicts(tunnels: readonly Tunnel[]): ReadonlyMap<PartName, readonly Conflict[]> {
  const found = new Map<PartName, Conflict[]>()
  for (const pair of overlappingPairs(tunnels.flatMap(claimsOf)).toSorted(byLaterTunnel)) {
    const [later, earlier] = [tunnels[pair.later.tunnel], tunnels[pair.earlier]]
    if (later === undefined || earlier === undefined) continue
    const part = nameOf(later)
    const conflicts = found.get(part) ?? []
    conflicts.push({ code: 'subnet_overlap_with_tunnel', part, subnet: pair.later.subnet, with: nameOf(earlier) })
    found.set(part, conflicts)
  }
  return found
}

/** A subnet, and the place of an earlier tunnel that it overlaps. */
interface Pair {
  readonly later: Claim
  readonly earlier: number
}

/**
 * The subnets and the earlier tunnels that overlap. Claims are sorted by first address: a network that ends before the next
 * one begins overlaps none that follows. Those that have not ended are open, and overlap the next one.
 */
function overlappingPairs(claims: readonly Claim[]): readonly Pair[] {
  const pairs: Pair[] = []
  const known = new Map<Claim, Set<number>>()
  let open: Claim[] = []
  for (const claim of claims.toSorted(bySpan)) {
    if (pairs.length >= PAIRS_MAX) break
    open = open.filter(({ span }) => overlaps(span, claim.span))
    for (const outer of open) {
      const pair = inOrder(outer, claim)
      if (pair.later.tunnel === pair.earlier || isKnown(known, pair)) continue
      pairs.push(pair)
    }
    open.push(claim)
  }
  return pairs
}

/** Whether the pair was asked for before. */
function isKnown(known: Map<Claim, Set<number>>, { later, earlier }: Pair): boolean {
  const before = known.get(later) ?? new Set()
  if (before.has(earlier)) return true
  known.set(later, before.add(earlier))
  return false
}

function inOrder(one: Claim, other: Claim): Pair {
  return one.tunnel < other.tunnel ? { earlier: one.tunnel, later: other } : { earlier: other.tunnel, later: one }
}

function claimsOf(tunnel: Tunnel, index: number): readonly Claim[] {
  return tunnel.allowed_subnets.map((subnet, place) => ({ span: spanOf(subnet), subnet, tunnel: index, place }))
}

function bySpan({ span: a }: Claim, { span: b }: Claim): number {
  if (a.family !== b.family) return a.family - b.family
  return a.first === b.first ? 0 : a.first < b.first ? -1 : 1
}

function byLaterTunnel(a: Pair, b: Pair): number {
  return a.later.tunnel - b.later.tunnel || a.earlier - b.earlier || a.later.place - b.later.place
}

function nameOf({ slug }: Tunnel): PartName {
  return `site-to-site/${slug}`
}
