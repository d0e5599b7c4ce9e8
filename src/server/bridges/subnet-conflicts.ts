import { overlaps, spanOf, type Span } from '../../shared/bridges/subnet.ts'
import type { PartName } from './bridge-parts.ts'
import type { Conflict } from './bridge-world.ts'

/** A part with the networks that it leads to: those of a tunnel, or that of the peers of a user-access provider. */
export interface Routed {
  readonly part: PartName
  readonly subnets: readonly string[]
}

/** A subnet of a part, with the places that order conflicts. */
interface Claim {
  readonly span: Span
  readonly subnet: string
  /** Place of the part. */
  readonly owner: number
  /** Place of the subnet in its part. */
  readonly place: number
}

/** The subnets of a part that overlap the mesh, in the order of the part. */
export function meshConflicts({ part, subnets }: Routed, meshCidr: string): readonly Conflict[] {
  const mesh = spanOf(meshCidr)
  return subnets
    .filter((subnet) => overlaps(spanOf(subnet), mesh))
    .map((subnet) => ({ code: 'subnet_overlap_with_mesh', part, subnet }))
}

/** Pairs that are looked for: a bridge has so many only where nearly everything overlaps. */
const PAIRS_MAX = 20_000

/**
 * Finds the subnets that overlap an earlier part, by the later part's name: ordered by the earlier part, then by the subnet.
 * Each subnet and each earlier part are a pair once; of more than 20,000 pairs some are left out. Parts that overlap nothing
 * are absent.
 */
export function subnetConflicts(parts: readonly Routed[]): ReadonlyMap<PartName, readonly Conflict[]> {
  const found = new Map<PartName, Conflict[]>()
  for (const pair of overlappingPairs(parts.flatMap(claimsOf)).toSorted(byLaterPart)) {
    const [later, earlier] = [parts[pair.later.owner], parts[pair.earlier]]
    if (later === undefined || earlier === undefined) continue
    const conflicts = found.get(later.part) ?? []
    conflicts.push(overlapOf(later.part, pair.later.subnet, earlier.part))
    found.set(later.part, conflicts)
  }
  return found
}

function overlapOf(part: PartName, subnet: string, other: PartName): Conflict {
  const isTunnel = other.startsWith('site-to-site/')
  return {
    code: isTunnel ? 'subnet_overlap_with_tunnel' : 'subnet_overlap_with_user_access',
    part,
    subnet,
    with: other,
  }
}

/** A subnet, and the place of an earlier part that it overlaps. */
interface Pair {
  readonly later: Claim
  readonly earlier: number
}

/**
 * The subnets and the earlier parts that overlap. Claims are sorted by first address: a network that ends before the next
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
      if (pair.later.owner === pair.earlier || isKnown(known, pair)) continue
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
  return one.owner < other.owner ? { earlier: one.owner, later: other } : { earlier: other.owner, later: one }
}

function claimsOf({ subnets }: Routed, index: number): readonly Claim[] {
  return subnets.map((subnet, place) => ({ span: spanOf(subnet), subnet, owner: index, place }))
}

function bySpan({ span: a }: Claim, { span: b }: Claim): number {
  if (a.family !== b.family) return a.family - b.family
  return a.first === b.first ? 0 : a.first < b.first ? -1 : 1
}

function byLaterPart(a: Pair, b: Pair): number {
  return a.later.owner - b.later.owner || a.earlier - b.earlier || a.later.place - b.later.place
}
